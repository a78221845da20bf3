// Figures computed by an independent program (tests/golden/accounting.json).

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Json = nlohmann::json;

std::map<std::string, Graph> golden_graphs() {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/graphs.json");
    std::map<std::string, Graph> graphs;
    const auto golden = Json::parse(file);
    for (const auto& entry : golden["graphs"])
        graphs.emplace(entry["name"],
                       Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>()));
    graphs.emplace("ring16", make_graph(Topology::ring, 16));
    return graphs;
}

void expect_figures(const Json& golden,
                    const MessageProcess& process,
                    const View& view,
                    int target) {
    const std::vector<int> targets{target};
    const auto found = view_sensitivity(process, view, targets, {1}, {}).front();
    EXPECT_FALSE(found.infinite);
    EXPECT_TRUE(relatively_near(found.constant_sign, golden["sum"], 1e-7));
    EXPECT_TRUE(relatively_near(found.abs_sum, golden["abs_sum"], 1e-7));
    EXPECT_TRUE(relatively_near(found.tight_upper, golden["tight_upper"], 1e-4));
    EXPECT_TRUE(relatively_near(found.tight_lower, golden["tight_lower"], 1e-4));
    EXPECT_LE(found.tight_lower, found.tight_upper);
    EXPECT_GE(found.tight_upper, golden["tight_lower"].get<double>() * (1 - 1e-9));
    EXPECT_LE(found.tight_lower, golden["tight_upper"].get<double>() * (1 + 1e-9));
    const auto cyclic = view_sensitivity(process, view, targets, {4}, {}).front();
    EXPECT_TRUE(relatively_near(cyclic.abs_sum, golden["cyclic_b4"], 1e-7));
}

TEST(GoldenViews, AreReached) {
    const auto graphs = golden_graphs();
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/accounting.json");
    const auto golden = Json::parse(file);
    int figures = 0;
    for (const auto& row : golden["rows"]) {
        const Graph& graph = graphs.at(row["graph"]);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        const long rounds = row["rounds"];
        const NoisePlan plain = unit_plan(graph.agents());
        NoisePlan lagged = plain;
        lagged.temporal = difference_factor(rounds);
        const NoisePlan decor = decor_plan(graph);
        for (const auto& [name, figure] : row["views"].items()) {
            SCOPED_TRACE(row["graph"].get<std::string>() + " " + row["attackers"].dump() + " " +
                         row["target"].dump() + " " + name);
            const NoisePlan& plan = name == "pndp_antipgd"   ? lagged
                                    : name == "secldp_decor" ? decor
                                                             : plain;
            const MessageProcess process = process_of(
                graph, plan, {fixed_phase(mixing, rounds)}, name == "pndp_muffliato_k3" ? 3 : 1);
            const View view{name == "secure_sum" ? View::Kind::secure_sum : View::Kind::neighbours,
                            row["attackers"].get<std::vector<int>>()};
            expect_figures(figure, process, view, row["target"]);
            ++figures;
        }
        const MessageProcess process = process_of(graph, plain, {fixed_phase(mixing, rounds)});
        const std::vector<int> targets{row["target"].get<int>()};
        EXPECT_DOUBLE_EQ(view_sensitivity(process, {View::Kind::all_messages, {}}, targets, {1}, {})
                             .front()
                             .certified(),
                         row["ldp"].get<double>());
    }
    EXPECT_EQ(figures, 70);
}

}  // namespace
}  // namespace sotto
