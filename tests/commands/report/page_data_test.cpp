#include "commands/report/page_data.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <cmath>
#include <limits>

#include "commands/report/report_fixtures.hpp"

namespace sotto {
namespace {

using test::quadratic_config;
using test::recorded_run;
using test::TemporaryFolder;
using OrderedJson = nlohmann::ordered_json;

/// 32-bit numbers of base64.
std::vector<float> floats_of(const std::string& text) {
    std::vector<float> values(text.size());
    std::size_t bytes = 0;
    EXPECT_EQ(sodium_base642bin(reinterpret_cast<unsigned char*>(values.data()),
                                values.size() * sizeof(float),
                                text.c_str(),
                                text.size(),
                                nullptr,
                                &bytes,
                                nullptr,
                                sodium_base64_VARIANT_ORIGINAL),
              0);
    values.resize(bytes / sizeof(float));
    return values;
}

TEST(PageData, CarriesFiguresAsTheyAre) {
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    ObserverFigures figures;
    figures.kind = View::Kind::secure_sum;
    figures.argument = {"non-adaptive ([U] Theorem 8)", false};
    figures.agents = 2;
    figures.smallest = 1;
    figures.observers = 2;
    figures.epsilon = {std::numeric_limits<float>::quiet_NaN(),
                       1.25F,
                       std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
    figures.note = "some";
    const OrderedJson json = page_figures(figures, graph);
    EXPECT_EQ(json["view"], "partial");
    EXPECT_EQ(json["guarantee"], false);
    EXPECT_EQ(json["words"]["names"], OrderedJson::array({"", "secure-sum", "secure-sum"}));
    EXPECT_EQ(json["argument"], figures.argument.text);
    EXPECT_EQ(json["sound"], false);
    EXPECT_EQ(json["smallest"], 1);
    EXPECT_EQ(json["observers"], 2);
    EXPECT_EQ(json["note"], "some");
    const auto values = floats_of(json["epsilon"]);
    ASSERT_EQ(values.size(), 4U);
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[3]));
    EXPECT_EQ(values[1], 1.25F);
    EXPECT_TRUE(std::isinf(values[2]));
    figures.kind = View::Kind::all_messages;
    EXPECT_EQ(page_figures(figures, graph)["view"], "all-messages");
}

TEST(PageData, CarriesPicturesRowByRow) {
    HeatMap map;
    map.title = "Noise";
    map.rows = "sender";
    map.columns = "receiver";
    map.names = {"a", "b"};
    map.values.resize(2, 2);
    map.values << 1, 2, 3, 4;
    const OrderedJson json = page_heat_map(map);
    EXPECT_EQ(floats_of(json["values"]), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(json["axes"], OrderedJson::array({"sender", "receiver"}));
    EXPECT_EQ(json["names"], OrderedJson::array({"a", "b"}));
}

TEST(PageData, CarriesTheGraphOfARun) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "ldp", 3), folder, 4);
    const OrderedJson json = page_graph(run.built, run.history.phases.back().members.gone());
    EXPECT_EQ(json["labels"], OrderedJson::array({"0", "1", "2", "3"}));
    EXPECT_EQ(json["edges"].size(), run.built.topography.graph.edges().size());
    EXPECT_EQ(json["edges"][0], OrderedJson::array({0, 1}));
    EXPECT_EQ(json["directed"], false);
    EXPECT_TRUE(json["gone"].empty());
}

}  // namespace
}  // namespace sotto
