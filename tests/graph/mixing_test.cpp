#include "sotto/graph/mixing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/files.hpp"
#include "core/numbers.hpp"
#include "graph/graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::make;
using test::message_of;
using test::TemporaryFile;

bool complete(const Graph& graph) {
    return graph.edges().size() == static_cast<std::size_t>(graph.agents()) *
                                       static_cast<std::size_t>(graph.agents() - 1) / 2;
}

std::vector<MixingRule> rules_for(const Graph& graph) {
    std::vector<MixingRule> rules{MixingRule::metropolis,
                                  MixingRule::max_degree,
                                  MixingRule::lazy_metropolis,
                                  MixingRule::row_stochastic};
    if (complete(graph)) rules.push_back(MixingRule::uniform);
    return rules;
}

template <class Check>
void for_every_rule(Check&& check) {
    for (const auto& [name, graph] : test::sample_graphs())
        for (const MixingRule rule : rules_for(graph)) {
            SCOPED_TRACE(name + " rule " + std::to_string(static_cast<int>(rule)));
            check(graph, rule, MixingMatrix::from_rule(graph, rule));
        }
}

TEST(MixingMatrix, RowsSumToOneAndWeightsArePositive) {
    for_every_rule([](const Graph& graph, MixingRule, const MixingMatrix& mixing) {
        const Eigen::MatrixXd dense = mixing.dense();
        for (int u = 0; u < graph.agents(); ++u) EXPECT_NEAR(dense.row(u).sum(), 1, 1e-15 * 8);
        EXPECT_GE(dense.minCoeff(), 0);
        for (int u = 0; u < graph.agents(); ++u)
            for (const double weight : mixing.weights(u)) EXPECT_GT(weight, 0);
    });
}

TEST(MixingMatrix, WeightsAreOnTheClosedNeighbourhoodsOnly) {
    for_every_rule([](const Graph& graph, MixingRule, const MixingMatrix& mixing) {
        const Eigen::MatrixXd dense = mixing.dense();
        for (int u = 0; u < graph.agents(); ++u) {
            const auto expected = graph.closed_neighbourhood(u);
            ASSERT_TRUE(std::ranges::equal(mixing.members(u), expected));
            std::size_t i = 0;
            for (int v = 0; v < graph.agents(); ++v) {
                const bool member = i < expected.size() && expected[i] == v;
                EXPECT_EQ(dense(u, v), member ? mixing.weights(u)[i] : 0.0);
                EXPECT_EQ(mixing.weight(u, v), dense(u, v));
                if (member) ++i;
            }
        }
    });
}

TEST(MixingMatrix, AllRulesButRowStochasticAreSymmetricAndDoublyStochastic) {
    for_every_rule([](const Graph& graph, MixingRule rule, const MixingMatrix& mixing) {
        const Eigen::MatrixXd dense = mixing.dense();
        bool regular = true;
        for (int u = 0; u < graph.agents(); ++u)
            regular = regular && graph.degree(u) == graph.degree(0);
        const bool promised = rule != MixingRule::row_stochastic || regular;
        EXPECT_EQ(mixing.symmetric(), promised);
        EXPECT_EQ(mixing.doubly_stochastic(), promised);
        if (!promised) return;
        EXPECT_EQ((dense - dense.transpose()).cwiseAbs().maxCoeff(), 0);
        EXPECT_NEAR((dense.colwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-14);
    });
}

TEST(MixingMatrix, EveryRuleIsItsFormula) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        SCOPED_TRACE(name);
        const int n = graph.agents();
        int most = 0;
        for (int u = 0; u < n; ++u) most = std::max(most, graph.degree(u));
        const Eigen::MatrixXd metropolis =
            MixingMatrix::from_rule(graph, MixingRule::metropolis).dense();
        const Eigen::MatrixXd max_degree =
            MixingMatrix::from_rule(graph, MixingRule::max_degree).dense();
        const Eigen::MatrixXd rows =
            MixingMatrix::from_rule(graph, MixingRule::row_stochastic).dense();
        for (const auto& [u, v] : graph.edges()) {
            EXPECT_EQ(metropolis(u, v), 1.0 / (1 + std::max(graph.degree(u), graph.degree(v))));
            EXPECT_EQ(max_degree(u, v), 1.0 / (1 + most));
            EXPECT_EQ(rows(u, v), 1.0 / (1 + graph.degree(u)));
            EXPECT_EQ(rows(v, u), 1.0 / (1 + graph.degree(v)));
        }
        const Eigen::MatrixXd lazy =
            MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis).dense();
        const Eigen::MatrixXd expected = (Eigen::MatrixXd::Identity(n, n) + metropolis) / 2;
        EXPECT_TRUE(lazy.isApprox(expected, 1e-15));
    }
}

TEST(MixingMatrix, UniformNeedsACompleteGraph) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make(Topology::complete, 5), MixingRule::uniform);
    EXPECT_TRUE((mixing.dense().array() == 0.2).all());
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)MixingMatrix::from_rule(make(Topology::ring, 5),
                                                           MixingRule::uniform);
                         }),
                         "5 of 10 edges"));
}

TEST(MixingMatrix, AverageIsTheMeanOverAllAgentsWhateverTheGraph) {
    for (const int n : {1, 2, 7}) {
        const MixingMatrix mixing = MixingMatrix::average(n);
        EXPECT_TRUE(mixing.symmetric());
        EXPECT_TRUE(mixing.doubly_stochastic());
        EXPECT_EQ(mixing.members(0).size(), static_cast<std::size_t>(n));
        const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n, 1, 2);
        EXPECT_NEAR(
            (mixing.sparse() * x - Eigen::VectorXd::Constant(n, x.mean())).norm(), 0, 1e-14);
    }
    EXPECT_THROW((void)MixingMatrix::average(0), ConfigError);
}

TEST(MixingMatrix, FromDenseKeepsEveryBitAndEveryMember) {
    for_every_rule([](const Graph& graph, MixingRule, const MixingMatrix& mixing) {
        const MixingMatrix again = MixingMatrix::from_dense(graph, mixing.dense());
        EXPECT_EQ(again.hash(), mixing.hash());
        EXPECT_EQ(again.symmetric(), mixing.symmetric());
        const Eigen::MatrixXd resting = Eigen::MatrixXd::Identity(graph.agents(), graph.agents());
        const MixingMatrix identity = MixingMatrix::from_dense(graph, resting);
        for (int u = 0; u < graph.agents(); ++u)
            EXPECT_TRUE(std::ranges::equal(identity.members(u), mixing.members(u)));
    });
}

TEST(MixingMatrix, ADirectedDoublyStochasticMatrixIsNotCalledSymmetric) {
    const Graph ring = make(Topology::ring, 5);
    Eigen::MatrixXd shift = Eigen::MatrixXd::Zero(5, 5);
    for (int u = 0; u < 5; ++u) shift(u, u) = shift(u, (u + 1) % 5) = 0.5;
    const MixingMatrix mixing = MixingMatrix::from_dense(ring, shift);
    EXPECT_FALSE(mixing.symmetric());
    EXPECT_TRUE(mixing.doubly_stochastic());
}

TEST(MixingMatrix, FromWeightsIsFromDense) {
    const Graph graph = make(Topology::erdos_renyi, 9);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const Eigen::MatrixXd dense = mixing.dense();
    const MixingMatrix same =
        MixingMatrix::from_weights(graph, [&](int u, int v) { return dense(u, v); });
    EXPECT_EQ(same.hash(), mixing.hash());
    for (const double wrong : {0.25, not_a_number}) {
        const auto weight = [&](int u, int v) { return u == 4 && v == 4 ? wrong : dense(u, v); };
        Eigen::MatrixXd changed = dense;
        changed(4, 4) = wrong;
        EXPECT_EQ(
            test::message_of<DataError>([&] { (void)MixingMatrix::from_weights(graph, weight); }),
            test::message_of<DataError>([&] { (void)MixingMatrix::from_dense(graph, changed); }));
    }
}

TEST(MixingMatrix, FromDenseNamesTheEntryItRefuses) {
    const Graph path = make(Topology::path, 3);
    const Eigen::MatrixXd good = MixingMatrix::from_rule(path, MixingRule::metropolis).dense();
    const auto refusal = [&](int u, int v, double value) {
        Eigen::MatrixXd bad = good;
        bad(u, v) = value;
        return message_of<DataError>([&] { (void)MixingMatrix::from_dense(path, bad); });
    };
    EXPECT_TRUE(contains(refusal(1, 2, not_a_number), "(1, 2) is nan"));
    EXPECT_TRUE(contains(refusal(1, 2, infinity), "(1, 2) is inf"));
    EXPECT_TRUE(contains(refusal(0, 2, 1e-300), "(0, 2)"));
    EXPECT_TRUE(contains(refusal(0, 2, 1e-300), "no edge"));
    EXPECT_TRUE(contains(refusal(1, 1, good(1, 1) + 2e-9), "row 1 sums to"));
    EXPECT_TRUE(contains(refusal(2, 2, good(2, 2) - 2e-9), "row 2 sums to"));
    Eigen::MatrixXd nearly = good;
    nearly(1, 1) += 5e-10;
    EXPECT_NO_THROW((void)MixingMatrix::from_dense(path, nearly));
    EXPECT_TRUE(contains(
        message_of<DataError>([&] { (void)MixingMatrix::from_dense(path, good.topRows(2)); }),
        "2 x 3"));
}

TEST(MixingMatrix, HashSeesEveryWeight) {
    const Graph path = make(Topology::path, 3);
    const MixingMatrix mixing = MixingMatrix::from_rule(path, MixingRule::metropolis);
    Eigen::MatrixXd other = mixing.dense();
    other(0, 0) = std::nextafter(other(0, 0), 1.0);
    EXPECT_NE(MixingMatrix::from_dense(path, other).hash(), mixing.hash());
    EXPECT_EQ(MixingMatrix::from_rule(path, MixingRule::metropolis).hash(), mixing.hash());
}

TEST(MixingSchedule, RepeatsItsMatricesWithTheirPeriod) {
    const Graph ring = make(Topology::ring, 6);
    const MixingMatrix a = MixingMatrix::from_rule(ring, MixingRule::metropolis);
    const MixingMatrix b = MixingMatrix::from_rule(ring, MixingRule::lazy_metropolis);
    const MixingSchedule schedule({a, b, b});
    EXPECT_FALSE(schedule.fixed());
    EXPECT_EQ(schedule.agents(), 6);
    for (long round = 0; round < 9; ++round)
        EXPECT_EQ(schedule.at(round).hash(), (round % 3 == 0 ? a : b).hash());
    EXPECT_TRUE(MixingSchedule({a}).fixed());
    EXPECT_NE(MixingSchedule({a, b}).hash(), MixingSchedule({b, a}).hash());
    EXPECT_NE(MixingSchedule({a}).hash(), MixingSchedule({a, a}).hash());
}

TEST(MixingSchedule, RefusesMatricesThatAreNotOnOneGraph) {
    const MixingMatrix ring =
        MixingMatrix::from_rule(make(Topology::ring, 6), MixingRule::metropolis);
    const MixingMatrix path =
        MixingMatrix::from_rule(make(Topology::path, 6), MixingRule::metropolis);
    const MixingMatrix small =
        MixingMatrix::from_rule(make(Topology::path, 5), MixingRule::metropolis);
    EXPECT_TRUE(contains(message_of<ConfigError>([] { MixingSchedule({}); }), "empty"));
    EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                             MixingSchedule({ring, path});
                         }),
                         "union graph"));
    EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                             MixingSchedule({path, small});
                         }),
                         "5 agents"));
}

/// 0 -> 1 -> 2 -> 0, 0 -> 2.
Graph four_arcs() { return Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}, {0, 2}}); }

TEST(DirectedMixing, WeighsThoseHeardByTheirNumberOrByTheirHearers) {
    const Graph graph = four_arcs();
    Eigen::MatrixXd rows(3, 3), columns(3, 3);
    rows << 0.5, 0, 0.5, 0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3;
    columns << 1.0 / 3, 0, 0.5, 1.0 / 3, 0.5, 0, 1.0 / 3, 0.5, 0.5;
    const MixingMatrix mean = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
    EXPECT_TRUE(mean.dense().isApprox(rows, 1e-15));
    EXPECT_EQ(mean.kind(), MixingKind::averaging);
    const MixingMatrix sums = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    EXPECT_TRUE(sums.dense().isApprox(columns, 1e-15));
    EXPECT_TRUE(sums.push_sum());
    EXPECT_FALSE(sums.doubly_stochastic());
    EXPECT_FALSE(sums.symmetric());
    const MixingMatrix again = MixingMatrix::from_dense(graph, sums.dense(), MixingKind::push_sum);
    EXPECT_EQ(again.hash(), sums.hash());
    EXPECT_NE(MixingMatrix::from_rule(graph, MixingRule::row_stochastic).hash(), sums.hash());
}

TEST(DirectedMixing, RefusesRulesOfUndirectedGraphsAndWeightsOfWhoIsNotHeard) {
    const Graph graph = four_arcs();
    for (const MixingRule rule : {MixingRule::metropolis,
                                  MixingRule::max_degree,
                                  MixingRule::lazy_metropolis,
                                  MixingRule::uniform})
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { (void)MixingMatrix::from_rule(graph, rule); }),
                     "push-sum, row-stochastic, FILE"));
    Eigen::MatrixXd dense = Eigen::MatrixXd::Identity(3, 3);
    dense(0, 0) = dense(0, 1) = 0.5;  // 0 does not hear 1
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { (void)MixingMatrix::from_dense(graph, dense); }),
                 "entry (0, 1)"));
    dense = MixingMatrix::from_rule(graph, MixingRule::row_stochastic).dense();
    EXPECT_TRUE(contains(message_of<DataError>([&] {
                             (void)MixingMatrix::from_dense(graph, dense, MixingKind::push_sum);
                         }),
                         "column 0 sums to"));
}

TEST(MixingSchedule, IsPushSumInAllRoundsOrInNone) {
    const Graph graph = four_arcs();
    const MixingMatrix sums = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    EXPECT_TRUE(MixingSchedule({sums, sums}).push_sum());
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] {
                     (void)MixingSchedule(
                         {sums, MixingMatrix::from_rule(graph, MixingRule::row_stochastic)});
                 }),
                 "push-sum in some rounds"));
}

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
        contains(message_of<DataError>([&] { (void)make_mixing(path, folder); }), "is not a file"));
}

const Graph path_of_three = Graph::from_edges(3, {{0, 1}, {1, 2}});
constexpr double row_sum_tolerance = 1e-9;

Eigen::MatrixXd halves() {
    Eigen::MatrixXd dense(3, 3);
    dense << 0.5, 0.5, 0, 0.25, 0.5, 0.25, 0, 0.5, 0.5;
    return dense;
}

std::string why(int u, int v, double weight) {
    Eigen::MatrixXd dense = halves();
    dense(u, v) = weight;
    return message_of<DataError>([&] { (void)MixingMatrix::from_dense(path_of_three, dense); });
}

TEST(CheckMixing, AcceptsWeightsOfTheGraphThatSumToOne) {
    EXPECT_NO_THROW((void)MixingMatrix::from_dense(path_of_three, halves()));
    Eigen::MatrixXd rounded = halves();
    rounded(0, 0) += 0.5 * row_sum_tolerance;
    EXPECT_NO_THROW((void)MixingMatrix::from_dense(path_of_three, rounded));
    EXPECT_NO_THROW((void)MixingMatrix::from_dense(path_of_three, Eigen::MatrixXd::Identity(3, 3)));
}

TEST(CheckMixing, NamesSourceEntryAndRule) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_TRUE(contains(why(1, 0, bad), "mixing matrix: entry (1, 0) is ")) << bad;
    EXPECT_TRUE(contains(why(0, 2, 0.1), "entry (0, 2) is 0.1"));
    EXPECT_TRUE(contains(why(0, 2, 0.1), "no edge there"));
    EXPECT_TRUE(contains(why(2, 2, 0.6), "row 2 sums to 1.1"));
    EXPECT_TRUE(contains(why(2, 2, 0.5 + 3 * row_sum_tolerance), "row 2 sums to 1.000000003"));
}

TEST(CheckMixing, TakesNegativeEntriesThatBringAgentsTogether) {
    Eigen::MatrixXd dense(3, 3);
    dense << 0.4, 0.6, 0, 0.6, -0.2, 0.6, 0, 0.6, 0.4;
    EXPECT_NO_THROW((void)MixingMatrix::from_dense(path_of_three, dense));
    dense << 0.2, 0.8, 0, 0.8, -0.6, 0.8, 0, 0.8, 0.2;  // eigenvalues 1, 0.2, -1.4
    EXPECT_TRUE(contains(
        message_of<DataError>([&] { (void)MixingMatrix::from_dense(path_of_three, dense); }),
        "mixing matrix: it has negative entries, and an eigenvalue other than that "
        "of the mean has modulus 1.4"));
    dense << 1.5, -0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0.5;  // not symmetric
    EXPECT_TRUE(contains(
        message_of<DataError>([&] { (void)MixingMatrix::from_dense(path_of_three, dense); }),
        "must be at most 1"));
    EXPECT_TRUE(contains(why(1, 0, -0.1), "row 1 sums to 0.65"));
}

TEST(CheckMixing, RefusesAnotherSize) {
    for (const auto& dense : {Eigen::MatrixXd::Identity(4, 4).eval(),
                              Eigen::MatrixXd::Identity(3, 4).eval(),
                              Eigen::MatrixXd(0, 0)})
        EXPECT_TRUE(contains(
            message_of<DataError>([&] { (void)MixingMatrix::from_dense(path_of_three, dense); }),
            "mixing matrix: "));
}

TEST(DampedMixing, MovesPartOfTheWay) {
    TopologySpec spec;
    spec.topology = Topology::ring;
    spec.agents = 5;
    const Graph ring = make_topology(spec).graph;
    const MixingMatrix whole = MixingMatrix::from_rule(ring, MixingRule::metropolis);
    const Eigen::MatrixXd half = 0.25 * whole.dense() + 0.75 * Eigen::MatrixXd::Identity(5, 5);
    EXPECT_LT((whole.damped(0.25).dense() - half).norm(), 1e-15);
    EXPECT_EQ(whole.damped(1).dense(), whole.dense());
    EXPECT_TRUE(whole.damped(0.25).symmetric());
}

}  // namespace
}  // namespace sotto
