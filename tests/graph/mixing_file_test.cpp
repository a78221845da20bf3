#include "sotto/graph/mixing_file.hpp"

#include <fmt/format.h>

#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {
namespace {

using test::contains;
using test::make;
using test::message_of;
using test::TemporaryFile;

std::string as_text(const Eigen::MatrixXd& matrix, const std::string& separator) {
    std::string text = "# weights\n";
    for (int u = 0; u < matrix.rows(); ++u) {
        for (int v = 0; v < matrix.cols(); ++v)
            text += fmt::format("{}{}", v == 0 ? "" : separator, matrix(u, v));
        text += "\n";
    }
    return text;
}

std::string refusal(const Graph& graph, std::string_view content) {
    const TemporaryFile file(content);
    const std::string message =
        message_of<DataError>([&] { (void)make_mixing(graph, file.path()); });
    EXPECT_TRUE(contains(message, file.path()));
    return message;
}

TEST(MakeMixing, EveryRuleIsFoundByItsName) {
    const Graph graph = make(Topology::complete, 4);
    const std::vector<MixingRule> rules{MixingRule::metropolis,
                                        MixingRule::max_degree,
                                        MixingRule::lazy_metropolis,
                                        MixingRule::row_stochastic,
                                        MixingRule::push_sum,
                                        MixingRule::uniform};
    ASSERT_EQ(mixing_names().size(), rules.size());
    const Graph star = make(Topology::star, 4);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const Graph& on = rules[i] == MixingRule::uniform ? graph : star;
        EXPECT_EQ(make_mixing(on, mixing_names()[i]).hash(),
                  MixingMatrix::from_rule(on, rules[i]).hash());
    }
}

TEST(MakeMixing, AMistypedRuleIsAnErrorThatSuggestsTheNearest) {
    const std::string message =
        message_of<ConfigError>([] { (void)make_mixing(make(Topology::ring, 4), "metroplis"); });
    EXPECT_TRUE(contains(message, "metroplis"));
    EXPECT_TRUE(contains(message, "metropolis"));
}

TEST(MakeMixing, TextAndNpyFilesGiveTheMatrixWrittenBitForBit) {
    for (const auto& [name, graph] : test::sample_graphs({1, 3, 8})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
        for (const char* separator : {" ", ",", "\t", ", "}) {
            const TemporaryFile file(as_text(mixing.dense(), separator));
            EXPECT_EQ(make_mixing(graph, file.path()).hash(), mixing.hash()) << name;
        }
        // By extension, and by content under another extension.
        for (const char* extension : {".npy", ".weights"}) {
            const TemporaryFile file("", extension);
            write_npy(file.path(), mixing.dense());
            EXPECT_EQ(make_mixing(graph, file.path()).hash(), mixing.hash()) << name;
        }
    }
}

TEST(MakeMixing, AnUnusableFileIsRefusedWithFileAndEntry) {
    const Graph path = make(Topology::path, 3);
    EXPECT_NO_THROW((void)make_mixing(path, TemporaryFile(".5 .5 0\n.5 0 .5\n0 .5 .5\n").path()));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 0 .5\n"), "2 rows"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 0 .5\n0 .5 .5\n0 0 1\n"), "3 agents"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 .5\n0 .5 .5\n"), "2 numbers"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 0 .5 0\n0 .5 .5\n"), "4 numbers"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 x .5\n0 .5 .5\n"), "(1, 1): \"x\""));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 nan .5\n0 .5 .5\n"), "(1, 1) is nan"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n1.5 -1 .5\n0 .5 .5\n"), "modulus 1.5"));
    EXPECT_TRUE(contains(refusal(path, ".5 .4 .1\n.5 0 .5\n0 .5 .5\n"), "(0, 2) is 0.1"));
    EXPECT_TRUE(contains(refusal(path, ".5 .5 0\n.5 0 .5\n0 .5 .4\n"), "row 2 sums to 0.9"));
    EXPECT_TRUE(contains(refusal(path, std::string("\0\x01\x02 garbage", 11)), "not a number"));
    EXPECT_TRUE(contains(refusal(path, ""), "0 rows"));
}

TEST(MakeMixing, AnUnusableNpyFileOrAFolderIsRefused) {
    const Graph path = make(Topology::path, 3);
    const TemporaryFile wrong_size("", ".npy");
    write_npy(wrong_size.path(), Eigen::MatrixXd(Eigen::MatrixXd::Identity(4, 4)));
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)make_mixing(path, wrong_size.path()); }),
                         "4 x 4"));
    const TemporaryFile garbage("no array", ".npy");
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)make_mixing(path, garbage.path()); }),
                         garbage.path()));
    const std::string folder = std::filesystem::temp_directory_path().string();
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { (void)make_mixing(path, folder); }), "is no file"));
}

}  // namespace
}  // namespace sotto
