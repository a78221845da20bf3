

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Pairs, CancelExactlyInTheMeanButForPrivateNoise) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        DesignInput input = setting.input(50);
        ask_like_the_program(input, find_mechanism("mechanism", "pairs"));
        const NoisePlan plan = design_of("pairs", input).plan;
        const Eigen::MatrixXd factor = plan.coefficient_matrix();
        for (std::size_t k = 0; k < plan.streams.size(); ++k) {
            const auto& members =
                plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members;
            if (members.size() == 2) {
                EXPECT_EQ(factor.col(static_cast<Eigen::Index>(k)).sum(), 0.0);
            }
        }
    }
}

TEST(Pairs, RefuseLargerGroupsWhichCornHbcTakes) {
    const Setting setting = settings({7}).front();
    DesignInput input = setting.input(10);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("neighbourhoods", setting.named.graph);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("pairs", input); }), "corn-hbc"));
    EXPECT_GT(design_of("corn-hbc", input).objective, 0);
}

TEST(Pairs, LeavePrivateNoiseAloneInTheMeanOfTheNetwork) {
    // R = diag(s2) + sum c_e (e_u - e_v)(e_u - e_v)^T, hence R 1 = s2 and no entry beside the
    // diagonal is positive.
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        DesignInput input = setting.input(50);
        ask_like_the_program(input, find_mechanism("mechanism", "pairs"));
        const NoisePlan plan = design_of("pairs", input).plan;
        const Eigen::MatrixXd covariance = spatial_covariance(plan);
        for (int u = 0; u < 7; ++u) {
            const double own = plan.scale * plan.rows[static_cast<std::size_t>(u)].coefficients[0];
            EXPECT_TRUE(relatively_near(covariance.row(u).sum(), own * own, 1e-9));
            for (int v = 0; v < u; ++v) EXPECT_LE(covariance(u, v), 0);
        }
    }
}

using namespace test;

TEST(Decor, AddsOneCancellingStreamPerEdge) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const Graph& graph = setting.named.graph;
        const Design design = design_of("decor", setting.input(200));
        const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
        ASSERT_EQ(design.plan.streams.size(), 7 + graph.edges().size());
        const double edge_variance = -covariance(graph.edges()[0].first, graph.edges()[0].second);
        EXPECT_GT(edge_variance, 0);
        const Eigen::MatrixXd rest = covariance - edge_variance * laplacian_of(graph);
        EXPECT_TRUE(rest.isApprox(rest(0, 0) * Eigen::MatrixXd::Identity(7, 7), 1e-7));
        // Only its two ends hold the seed of an edge.
        for (std::size_t e = 0; e < graph.edges().size(); ++e) {
            const auto group = static_cast<std::size_t>(design.plan.streams[7 + e].group);
            EXPECT_EQ(design.plan.groups[group].members,
                      (std::vector<int>{graph.edges()[e].first, graph.edges()[e].second}));
        }
    }
}

TEST(Decor, HasAnHonestVarianceAgainstColludingAgents) {
    for (const auto& setting : settings({6, 9})) {
        SCOPED_TRACE(setting.named.name);
        double before = 0;
        for (const int q : {0, 1, 2, 5}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            const Design design = design_of("decor", input);
            EXPECT_LE(coalition_precision(design.plan, q).maxCoeff(), 1 + 1e-9);
            EXPECT_GE(design.objective, before * (1 - 1e-9));  // more colluders, more noise
            EXPECT_LE(design.lower_bound, design.objective * (1 + 1e-12));
            before = design.objective;
        }
    }
}

/// Every agent of a ring or a complete graph is like every other and [C] (10) is convex, so some
/// optimum has the block (1, b; b, 1) times a number on every edge.
Eigen::MatrixXd alike_edges(const Graph& graph, double own, double b, const std::vector<int>& out) {
    Eigen::MatrixXd covariance = own * Eigen::MatrixXd::Identity(graph.agents(), graph.agents());
    for (const auto& [u, v] : graph.edges()) {
        if (std::ranges::count(out, u) + std::ranges::count(out, v) > 0) continue;
        covariance(u, u) += 1;
        covariance(v, v) += 1;
        covariance(u, v) += b;
        covariance(v, u) += b;
    }
    return covariance;
}

/// Largest [(R^(I))^-1]_uu over all coalitions of one or two agents.
double worst_precision(const Graph& graph, double own, double b, int q) {
    double worst = 0;
    for (int first = 0; first < graph.agents(); ++first)
        for (int second = first + 1; second < (q == 1 ? first + 2 : graph.agents()); ++second) {
            const std::vector<int> coalition =
                q == 1 ? std::vector<int>{first} : std::vector<int>{first, second};
            const Eigen::VectorXd precision = precision_of(alike_edges(graph, own, b, coalition));
            for (int u = 0; u < graph.agents(); ++u)
                if (std::ranges::count(coalition, u) == 0) worst = std::max(worst, precision(u));
        }
    return worst;
}

/// Least Tr(M R) over a grid of log(own) and b that closes in on the best point.
double searched(const Graph& graph, const Eigen::MatrixXd& utility, int q) {
    double best = utility.trace();  // private noise alone
    double at_own = 0, at_b = 0;
    for (double width = 8; width > 1e-4; width *= 0.5) {
        const double middle_own = at_own, middle_b = at_b;
        for (int i = -4; i <= 4; ++i)
            for (int j = -4; j <= 4; ++j) {
                const double log_own = middle_own + width * i / 4;
                const double b = std::clamp(middle_b + width * j / 32, -1.0, 1.0);
                const double value = worst_precision(graph, std::exp(log_own), b, q) *
                                     cost(utility, alike_edges(graph, std::exp(log_own), b, {}));
                if (!(value < best)) continue;
                best = value;
                at_own = log_own;
                at_b = b;
            }
    }
    return best;
}

TEST(Decor, WithSeedsOfEdgesIsTheBestNoiseOfEdgesAndOneVarianceAgainstColludingAgents) {
    for (const auto& [topology, q] : {std::pair{Topology::ring, 1},
                                      std::pair{Topology::complete, 1},
                                      std::pair{Topology::complete, 2}}) {
        SCOPED_TRACE(name_of(topology) + " " + std::to_string(q));
        const Setting setting{
            {"", make_graph(topology, 5)},
            MixingMatrix::from_rule(make_graph(topology, 5), MixingRule::lazy_metropolis)};
        for (const long horizon : {1L, 20L}) {
            DesignInput input = setting.input(horizon);
            input.coalition_size = q;
            input.seed_groups = make_seed_groups("edges", setting.named.graph);
            const Design design = design_of("decor", input);
            EXPECT_EQ(design.plan.mechanism, "decor");
            EXPECT_TRUE(relatively_near(
                design.objective, searched(setting.named.graph, design_utility(input), q), 1e-4));
        }
    }
}

TEST(Decor, WithSeedsOfEdgesHasOneVarianceAndLessNoiseThanWithAllEdgesAlike) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 4, 0.6);
    const Setting setting{{"random", graph},
                          MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(1);
    input.coalition_size = 1;
    const double alike = design_of("decor", input).objective;
    input.seed_groups = make_seed_groups("edges", graph);
    const Design design = design_of("decor", input);
    EXPECT_LT(design.objective, 0.97 * alike);
    EXPECT_LE(design.relative_gap(), 1e-3);
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 1 + 1e-9);
    const double own = design.plan.rows[0].coefficients[0];  // stream u is agent u's own
    for (int u = 0; u < 8; ++u) {
        const NoiseRow& row = design.plan.rows[static_cast<std::size_t>(u)];
        EXPECT_EQ(row.streams[0], u);
        EXPECT_EQ(row.coefficients[0], own);
    }
    for (const SeedGroup& group : design.plan.groups)
        EXPECT_TRUE(group.members.size() == 1 ||
                    std::ranges::count(graph.neighbours(group.members[0]), group.members[1]) == 1);
}

TEST(Decor, WithSeedsOfEdgesIsIndependentNoiseWhereColludersCanSurroundAnAgent) {
    const Graph graph = make_graph(Topology::path, 6);
    const Setting setting{{"path", graph}, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(20);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("edges", graph);
    EXPECT_TRUE(relatively_near(
        design_of("decor", input).objective, design_of("ldp", input).objective, 1e-4));
}

using namespace test;

TEST(Corn, InjectsTheOptimalCovarianceFromOneSharedSeed) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const DesignInput input = setting.input(20);
        const Design design = design_of("corn", input);
        const SpatialSolution solution =
            solve_spatial_covariance(utility_matrix(*input.mixing, input.utility, 1), input.kappa);
        EXPECT_TRUE(spatial_covariance(design.plan).isApprox(solution.covariance, 1e-8));
        ASSERT_EQ(design.plan.groups.size(), 1U);
        EXPECT_EQ(design.plan.groups[0].members.size(), 7U);
        EXPECT_EQ(design.plan.streams_per_agent(), 7);
        EXPECT_EQ(design.plan.rows[0].streams.size(), 1U);
    }
}

TEST(Corn, ApproachesCentralNoiseOnTheCompleteGraph) {
    for (const int n : {3, 10, 20}) {
        const Graph graph = make_graph(Topology::complete, n);
        const Setting setting{{"complete", graph},
                              MixingMatrix::from_rule(graph, MixingRule::uniform)};
        for (const long horizon : {1L, 200L}) {
            const Design corn = design_of("corn", setting.input(horizon));
            const Design cdp = design_of("cdp", setting.input(horizon));
            EXPECT_TRUE(relatively_near(corn.objective, cdp.objective, 1e-2)) << n;
            EXPECT_GE(corn.objective, cdp.objective * (1 - 1e-12));
            EXPECT_TRUE(corn.capped);
        }
    }
}

using namespace test;

TEST(CornHbc, IsNeverWorseThanPairsOfTheSameGroups) {
    for (const auto& setting : settings({6})) {
        SCOPED_TRACE(setting.named.name);
        for (const int q : {0, 1, 2}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            input.seed_groups = make_seed_groups("edges", setting.named.graph);
            EXPECT_LE(design_of("corn-hbc", input).objective,
                      design_of("pairs", input).objective * (1 + 3e-5));
        }
    }
}

TEST(CornHbc, CorrelatesOnlyAgentsThatShareAGroup) {
    // Closed neighbourhoods of a ring: agents up to two steps apart.
    const Graph graph = make_graph(Topology::ring, 8);
    const Setting setting{{"ring", graph}, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(20);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("neighbourhoods", graph);
    const Design design = design_of("corn-hbc", input);
    const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
    for (int u = 0; u < 8; ++u)
        for (int v = 0; v < 8; ++v) {
            const int distance = std::min((u - v + 8) % 8, (v - u + 8) % 8);
            if (distance > 2)
                EXPECT_EQ(covariance(u, v), 0) << u << " " << v;
            else
                EXPECT_GT(std::abs(covariance(u, v)), 1e-3) << u << " " << v;
        }
    for (const NoiseStream& stream : design.plan.streams) {
        const auto group = static_cast<std::size_t>(stream.group);
        EXPECT_TRUE(design.plan.groups[group].members.size() == 1 ||
                    design.plan.groups[group].members.size() == 3);
    }
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 1 + 1e-9);
}

using namespace test;

/// Noise that neighbours on a ring partly cancel, with variances that exceed what is beside them.
Eigen::MatrixXd dominant(int agents) {
    Eigen::MatrixXd covariance = 3 * Eigen::MatrixXd::Identity(agents, agents);
    for (int u = 0; u < agents; ++u) {
        const int next = (u + 1) % agents;
        covariance(u, next) = covariance(next, u) = u == 0 ? 0.5 : -1;
    }
    return covariance;
}

/// Of rank one but for a share of the identity: no seeds of pairs make it.
Eigen::MatrixXd common(int agents) {
    return Eigen::MatrixXd::Ones(agents, agents) + 0.1 * Eigen::MatrixXd::Identity(agents, agents);
}

Eigen::MatrixXd relative(const Eigen::MatrixXd& covariance) {
    return covariance / covariance.trace();
}

class Covariance : public ::testing::Test {
  protected:
    Setting setting_ = settings({6}).front();
    DesignInput input_ = setting_.input(20, random_kappa(6, unequal_kappa_seed));

    Design design(const Eigen::MatrixXd& covariance) {
        input_.covariance = covariance;
        return design_of("covariance", input_);
    }
    std::string refusal(const Eigen::MatrixXd& covariance) {
        return message_of<ConfigError>([&] { (void)design(covariance); });
    }
};

TEST_F(Covariance, IsTheUsersScaledToTheWholeBudgetOfWhomItHidesLeast) {
    for (const Eigen::MatrixXd& covariance : {dominant(6), common(6)}) {
        const Design made = design(covariance);
        const Eigen::MatrixXd found = spatial_covariance(made.plan);
        EXPECT_TRUE(relative(found).isApprox(relative(covariance), 1e-12));
        const Eigen::VectorXd spent = found.inverse().diagonal().cwiseQuotient(input_.kappa);
        EXPECT_NEAR(spent.maxCoeff(), 1, 1e-9);
        EXPECT_NEAR(made.objective,
                    design_utility(input_).cwiseProduct(found).sum() * input_.kappa.minCoeff(),
                    1e-9 * made.objective);
        // A factor of one's own says nothing.
        EXPECT_TRUE(spatial_covariance(design(1e-3 * covariance).plan).isApprox(found, 1e-9));
    }
}

TEST_F(Covariance, TakesSeedsOfPairsWherePossibleAndWithstandsCuriousAgentsThen) {
    input_.coalition_size = 2;
    const NoisePlan plan = design(dominant(6)).plan;
    for (const SeedGroup& group : plan.groups) EXPECT_LE(group.members.size(), 2U);
    EXPECT_EQ(plan.groups.size(), 6U + 6U);
    const Eigen::VectorXd precision = coalition_precision(plan, 2);
    EXPECT_NEAR(precision.cwiseQuotient(input_.kappa).maxCoeff(), 1, 1e-9);
    EXPECT_TRUE(relative(spatial_covariance(plan)).isApprox(relative(dominant(6)), 1e-12));
}

TEST_F(Covariance, TakesOneSeedOfAllOtherwiseAndSaysThatAgentsCanRemoveIt) {
    const NoisePlan plan = design(common(6)).plan;
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_EQ(plan.groups[0].members.size(), 6U);
    EXPECT_TRUE(std::isinf(observed_precision(plan, {{0}})(1)));
    input_.coalition_size = 1;
    EXPECT_TRUE(contains(refusal(common(6)), "coalition-size: 1 is not possible"));
}

TEST_F(Covariance, IsCheckedAndWhatIsWrongIsNamed) {
    EXPECT_TRUE(contains(refusal(dominant(5)), "5 x 5 is given for 6 agents"));
    EXPECT_TRUE(contains(refusal(Eigen::MatrixXd::Ones(6, 1)), "6 x 1"));
    Eigen::MatrixXd covariance = dominant(6);
    covariance(4, 1) = 0.25;
    EXPECT_TRUE(contains(refusal(covariance), "0.25 in row 4, column 1 and 0 in its mirror"));
    covariance = dominant(6);
    covariance(3, 3) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(contains(refusal(covariance), "nan in row 3, column 3"));
    EXPECT_TRUE(contains(refusal(Eigen::MatrixXd::Ones(6, 6)), "positive definite"));
    EXPECT_TRUE(contains(refusal(-Eigen::MatrixXd::Identity(6, 6)), "smallest eigenvalue of -1"));
}

}  // namespace
}  // namespace sotto
