#include "sotto/noise/mechanism.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/test_support.hpp"
#include "noise/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/noise/seed_groups.hpp"
#include "sotto/noise/spatial_solver.hpp"
#include "sotto/noise/temporal_solver.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/protection.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr std::uint64_t seed = 31;

/// A graph with its mixing matrix; makes inputs that point to them.
struct Setting {
    NamedGraph named;
    MixingMatrix mixing;

    [[nodiscard]] DesignInput input(long horizon, const Eigen::VectorXd& kappa) const {
        DesignInput result;
        result.graph = &named.graph;
        result.mixing = &mixing;
        result.utility = {Utility::Kind::horizon, horizon};
        result.rounds = 100;
        result.kappa = kappa;
        return result;
    }
    [[nodiscard]] DesignInput input(long horizon) const {
        return input(horizon, Eigen::VectorXd::Ones(named.graph.agents()));
    }
};

std::vector<Setting> settings(const std::vector<int>& sizes) {
    std::vector<Setting> result;
    for (const auto& named : sample_graphs(sizes))
        result.push_back({named, MixingMatrix::from_rule(named.graph, MixingRule::metropolis)});
    return result;
}

/// Coalition size and seed groups as they are where the user chooses neither.
void ask_like_the_program(DesignInput& input, const Mechanism& mechanism) {
    const int agents = input.graph->agents();
    input.coalition_size = std::min(mechanism.default_coalition_size, agents - 1);
    if (mechanism.seed_groups)
        input.seed_groups = make_seed_groups(default_seed_groups(agents), *input.graph);
    if (mechanism.correlates_rounds) {
        input.rounds = 12;
        input.participation = {4};
    }
    if (mechanism.takes_spatial) input.spatial = &find_mechanism("spatial-mechanism", "corn");
}

/// Calls f(mechanism, input, design) for every private mechanism over graphs, horizons and kappa.
template <class Function>
void for_each_design(Function&& f) {
    for (const auto& setting : settings({1, 2, 5, 12}))
        for (const long horizon : {1L, 200L})
            for (const bool equal : {true, false})
                for (const auto& mechanism : mechanisms()) {
                    if (!mechanism.needs_budget) continue;
                    // Those that optimise over coalitions take seconds for more, all together.
                    if (mechanism.seed_groups && setting.named.graph.agents() > 5) continue;
                    SCOPED_TRACE(setting.named.name + ", " + mechanism.name + ", horizon " +
                                 std::to_string(horizon) + (equal ? "" : ", unequal kappa"));
                    const Eigen::Index n = setting.named.graph.agents();
                    DesignInput input = setting.input(
                        horizon,
                        equal ? Eigen::VectorXd::Constant(n, 0.02).eval() : random_kappa(n, seed));
                    ask_like_the_program(input, mechanism);
                    const Design design = mechanism.design(input);
                    // Noise on messages has tests of its own.
                    if (design.plan.entry == NoiseEntry::gradient) f(mechanism, input, design);
                }
}

TEST(Mechanisms, KeepEveryAgentWithinItsOwnBudget) {
    for_each_design([](const Mechanism&, const DesignInput& input, const Design& design) {
        EXPECT_EQ(design.plan.coalition_size, input.coalition_size);
        const Eigen::VectorXd precision = coalition_precision(design.plan, input.coalition_size);
        for (Eigen::Index u = 0; u < precision.size(); ++u)
            EXPECT_LE(precision(u), input.kappa(u) * (1 + 1e-9)) << "agent " << u;
    });
}

TEST(Mechanisms, MakePlansThatEveryProcessAcceptsForItsBudget) {
    for_each_design([](const Mechanism& mechanism, const DesignInput& input, const Design& design) {
        EXPECT_NO_THROW(design.plan.validate());
        EXPECT_EQ(design.plan.mechanism, mechanism.name);
        EXPECT_EQ(design.plan.agents, input.graph->agents());
        // mu_u^2 = Delta_u^2 sens2 kappa_u.
        std::vector<Exposure> exposures;
        std::vector<PrivacyBudget> budgets;
        std::vector<int> everybody(static_cast<std::size_t>(design.plan.agents));
        std::iota(everybody.begin(), everybody.end(), 0);
        for (const int u : everybody) {
            const auto squared = [&](const TemporalFactor& factor) {
                return temporal_sensitivity_squared(factor, input.participation, input.rounds);
            };
            exposures.push_back({0.2, squared(design.plan.temporal), 1});
            const StreamDistribution noise = design.plan.distribution();
            const double distance = 0.2 * std::sqrt(squared({}) * input.kappa(u));
            budgets.push_back(budget_spent_by(loss_of_distance(noise, distance), noise, 1e-5));
        }
        EXPECT_NO_THROW(verify_agents_protected(
            design.plan, everybody, exposures, budgets, input.coalition_size));
    });
}

TEST(Mechanisms, ChooseTheCoarsestGridThatTheConditionalNoiseAllows) {
    for_each_design([](const Mechanism&, const DesignInput& input, const Design& design) {
        const double rounds = largest_round_precision(design.plan.temporal);
        const double finest_std =
            1 /
            std::sqrt(coalition_precision(design.plan, input.coalition_size).maxCoeff() * rounds);
        EXPECT_LE(design.plan.grid_step(), std::ldexp(finest_std, -20));
        // Two steps of rounding where rounds are correlated.
        EXPECT_GT(design.plan.grid_step() * (rounds == 1 ? 2 : 64),
                  std::ldexp(finest_std, -20) * (1 - 1e-12));
    });
}

TEST(Mechanisms, StateTheObjectiveOfTheNoiseThatTheirPlanInjects) {
    for_each_design([](const Mechanism& mechanism, const DesignInput& input, const Design& design) {
        if (mechanism.name == "cdp") return;      // its noise enters the mean only
        if (mechanism.correlates_rounds) return;  // of another utility
        const Eigen::MatrixXd utility =
            utility_matrix(*input.mixing, input.utility, input.rounds, input.gossip_steps);
        const double injected = cost(utility, spatial_covariance(design.plan));
        EXPECT_TRUE(relatively_near(injected * input.kappa.minCoeff(), design.objective, 1e-6));
        EXPECT_GE(design.relative_gap(), -1e-10);
        EXPECT_GT(design.lower_bound, 0);
        EXPECT_LE(design.relative_gap(), 1e-2);
    });
}

TEST(Mechanisms, KeepTheCapOnEveryVariance) {
    for_each_design([](const Mechanism& mechanism, const DesignInput& input, const Design& design) {
        // One stream per budget already needs max kappa / min kappa with a common private variance.
        const double cap = mechanism.name == "decor"
                               ? std::max(1e4, input.kappa.maxCoeff() / input.kappa.minCoeff())
                               : 1e4;
        EXPECT_LE(spatial_covariance(design.plan).diagonal().cwiseProduct(input.kappa).maxCoeff(),
                  cap * (1 + 1e-6));
    });
}

TEST(Mechanisms, ScaleTheirNoiseAndNotTheirObjectiveWithTheBudget) {
    for (const auto& setting : settings({6}))
        for (const auto& mechanism : mechanisms()) {
            if (!mechanism.needs_budget) continue;
            SCOPED_TRACE(setting.named.name + ", " + mechanism.name);
            const Eigen::VectorXd kappa = random_kappa(6, seed);
            DesignInput input = setting.input(10, kappa);
            ask_like_the_program(input, mechanism);
            const Design loose = mechanism.design(input);
            input.kappa = kappa / 1024;
            const Design tight = mechanism.design(input);
            if (loose.plan.entry == NoiseEntry::gradient) {
                EXPECT_TRUE(relatively_near(tight.objective, loose.objective, 1e-12));
            }
            EXPECT_TRUE(largest_message_variance(tight.plan)
                            .isApprox(1024 * largest_message_variance(loose.plan), 1e-9));
            EXPECT_TRUE(spatial_covariance(tight.plan)
                            .isApprox(1024 * spatial_covariance(loose.plan), 1e-9));
            EXPECT_EQ(tight.plan.grid_step(), 32 * loose.plan.grid_step());
        }
}

TEST(Mechanisms, RankCornBeforeDecorBeforeLdpOnEveryGraph) {
    for (const auto& setting : settings({2, 5, 12, 20}))
        for (const long horizon : {1L, 10L, 200L}) {
            SCOPED_TRACE(setting.named.name + ", horizon " + std::to_string(horizon));
            const DesignInput input = setting.input(horizon);
            const Design ldp = design_ldp(input), decor = design_decor(input),
                         corn = design_corn(input), cdp = design_cdp(input);
            EXPECT_LE(decor.objective, ldp.objective * (1 + 1e-12));
            // Under the cap corn stops within a few percent of it.
            EXPECT_LE(corn.objective, decor.objective * (1 + (corn.capped ? 1e-4 : 1e-9)));
            EXPECT_LE(corn.lower_bound, decor.objective * (1 + 1e-12));
            EXPECT_LE(cdp.objective, corn.objective * (1 + 1e-9));
        }
}

TEST(Mechanisms, GiveTheSamePlanForTheSameInput) {
    for (const auto& setting : settings({7}))
        for (const auto& mechanism : mechanisms()) {
            DesignInput input = setting.input(50);
            ask_like_the_program(input, mechanism);
            EXPECT_EQ(mechanism.design(input).plan.hash(), mechanism.design(input).plan.hash())
                << mechanism.name;
        }
}

TEST(Mechanisms, RefuseAKappaThatIsNotFiniteAndPositiveAndNameTheAgent) {
    const Setting setting = settings({5}).front();
    for (const double bad : {0.0,
                             -1.0,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()})
        for (const auto& mechanism : mechanisms()) {
            if (!mechanism.needs_budget) continue;
            Eigen::VectorXd kappa = Eigen::VectorXd::Ones(5);
            kappa(1) = bad;
            DesignInput input = setting.input(10, kappa);
            ask_like_the_program(input, mechanism);
            EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)mechanism.design(input); }),
                                 "kappa of agent 1"))
                << mechanism.name << " " << bad;
        }
}

TEST(FindMechanism, KnowsEveryNameAndSuggestsTheNearest) {
    for (const auto& name : mechanism_names())
        EXPECT_EQ(find_mechanism("mechanism", name).name, name);
    EXPECT_EQ(mechanism_names(),
              (std::vector<std::string>{"none",
                                        "ldp",
                                        "cdp",
                                        "decor",
                                        "corn",
                                        "corn-hbc",
                                        "pairs",
                                        "muffliato",
                                        "anti-pgd",
                                        "mafalda",
                                        "space-time",
                                        "zip-dl",
                                        "homomorphic",
                                        "laplace"}));
    const std::string message =
        message_of<ConfigError>([] { (void)find_mechanism("mechanism", "cron"); });
    EXPECT_TRUE(contains(message, "mechanism"));
    EXPECT_TRUE(contains(message, "did you mean 'corn'?"));
}

TEST(None, HasAGridOnWhichClippedGradientsOfAnyNormAddUpExactly) {
    const auto setting = settings({5}).front();
    DesignInput input = setting.input(1);
    for (const double clip : {1e-3, 1.0, 8191.0, 8192.0, 1e5, 3e20}) {
        input.clip_norm = clip;
        const double step = design_none(input).plan.grid_step();
        EXPECT_LT(clip / step, 0x1p53);
        EXPECT_EQ(step == 0x1p-40, clip < 8192) << clip;
    }
}

TEST(None, AddsNothing) {
    const Design design = design_none(settings({5}).front().input(1));
    EXPECT_TRUE(design.plan.noiseless());
    EXPECT_EQ(design.plan.scale, 0.0);
    EXPECT_EQ(design.objective, 0.0);
    EXPECT_FALSE(find_mechanism("mechanism", "none").needs_budget);
}

TEST(Ldp, GivesEveryAgentItsOwnVariance) {
    for (const auto& setting : settings({6})) {
        const Eigen::VectorXd kappa = random_kappa(6, seed);
        const Design design = design_ldp(setting.input(10, kappa));
        EXPECT_TRUE(spatial_covariance(design.plan)
                        .isApprox(kappa.cwiseInverse().asDiagonal().toDenseMatrix(), 1e-12));
        EXPECT_EQ(design.plan.streams_per_agent(), 1);
    }
}

TEST(Muffliato, IsLdpWithOneGossipStepAndMixesMoreWithSeveral) {
    for (const auto& setting : settings({6})) {
        const Eigen::VectorXd kappa = random_kappa(6, seed);
        DesignInput input = setting.input(10, kappa);
        const Design once = design_muffliato(input);
        EXPECT_TRUE(spatial_covariance(once.plan) == spatial_covariance(design_ldp(input).plan));
        EXPECT_EQ(once.objective, design_ldp(input).objective);
        input.gossip_steps = 3;
        const Design thrice = design_muffliato(input);
        EXPECT_TRUE(spatial_covariance(thrice.plan) == spatial_covariance(once.plan));
        if (setting.named.name.starts_with("complete"))
            EXPECT_NEAR(thrice.objective, once.objective, 1e-9 * once.objective);
        else
            EXPECT_LT(thrice.objective, once.objective) << setting.named.name;
    }
}

/// Noise of all models of all rounds, round by round: sum_t ||sum_s W^(t-s+1) (C^-1)_s.||^2.
double direct_trajectory(const MixingMatrix& mixing, const TemporalFactor& factor, long rounds) {
    const Eigen::MatrixXd w = mixing.dense();
    const Eigen::MatrixXd inverse = dense_factor(factor, rounds).inverse();
    const Eigen::Index n = w.rows();
    Eigen::MatrixXd state = Eigen::MatrixXd::Zero(n, n * rounds);  // by (z of round s, agent)
    double sum = 0;
    for (Eigen::Index t = 0; t < rounds; ++t) {
        for (Eigen::Index s = 0; s <= t; ++s)
            state.middleCols(s * n, n) += inverse(t, s) * Eigen::MatrixXd::Identity(n, n);
        state = (w * state).eval();
        sum += state.squaredNorm();
    }
    return sum;
}

TEST(AntiPgd, StatesTheObjectiveOfNoiseThatIsCorrelatedOverRounds) {
    for (const auto rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long cycle : {1L, 3L}) {
            const Graph graph = make_graph(Topology::star, 5);
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::trajectory, 0};
            input.rounds = 7;
            input.participation = {cycle};
            input.kappa = Eigen::VectorXd::Constant(5, 0.25);
            const Design design = design_anti_pgd(input);
            const TemporalFactor& factor = design.plan.temporal;
            const double sensitivity = temporal_sensitivity_squared(factor, {cycle}, 7);
            const double participations = temporal_sensitivity_squared({}, {cycle}, 7);
            EXPECT_TRUE(
                relatively_near(design.objective,
                                direct_trajectory(mixing, factor, 7) * sensitivity / participations,
                                1e-10));
            EXPECT_TRUE(
                spatial_covariance(design.plan)
                    .isApprox(4 * sensitivity / participations * Eigen::MatrixXd::Identity(5, 5),
                              1e-12));
        }
}

TEST(AntiPgd, AddsDifferencesOfConsecutiveNormals) {
    const Eigen::MatrixXd inverse = dense_factor(prefix_sum_factor(4), 4).inverse();
    Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(4, 4);
    expected.diagonal(-1).setConstant(-1);
    EXPECT_TRUE(inverse.isApprox(expected, 1e-15));
}

TEST(SpaceTime, BeatsItsPartsOverEverySpatialMechanismAndKeepsItsCoalitions) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2, 0.5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.utility = {Utility::Kind::trajectory, 0};
    input.rounds = 20;
    input.participation = {5};
    input.kappa = random_kappa(6, seed);
    const double independent = design_ldp(input).objective;
    const double mafalda = design_mafalda(input).objective;
    EXPECT_LT(mafalda, independent);
    for (const std::string name : {"ldp", "decor", "corn", "pairs", "corn-hbc"}) {
        SCOPED_TRACE(name);
        const Mechanism& spatial = find_mechanism("spatial-mechanism", name);
        ask_like_the_program(input, spatial);
        input.spatial = &spatial;
        const Design both = design_space_time(input);
        EXPECT_LE(both.objective, mafalda * (1 + 1e-9));
        EXPECT_LE(both.objective, spatial.design(input).objective * (1 + 1e-9));
        EXPECT_EQ(both.plan.coalition_size, input.coalition_size);
        EXPECT_TRUE(std::isnan(both.lower_bound));
        // sens2 is the number of participations, so kappa holds as it is.
        EXPECT_NEAR(temporal_sensitivity_squared(both.plan.temporal, {5}, 20), 4, 1e-9);
        const Eigen::VectorXd precision = coalition_precision(both.plan, input.coalition_size);
        EXPECT_LE(precision.cwiseQuotient(input.kappa).maxCoeff(), 1 + 1e-9);
        // What is stated is what the plan's own noise leaves.
        EXPECT_TRUE(relatively_near(
            cost(temporal_utility(mixing, spatial_covariance(both.plan), design_steps(input)),
                 (both.plan.temporal.lower.transpose() * both.plan.temporal.lower).inverse()) *
                input.kappa.minCoeff(),
            both.objective,
            1e-6));
    }
}

TEST(SpaceTime, RefusesWhatItCannotImprove) {
    const Graph graph = make_graph(Topology::ring, 5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 10;
    input.kappa = Eigen::VectorXd::Ones(5);
    input.spatial = &find_mechanism("spatial-mechanism", "corn");
    for (const auto design : {design_mafalda, design_space_time}) {
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design(input); }),
                             "participation: every"));
        input.participation = {5};
        input.rounds = 2001;
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design(input); }), "2001"));
        input.rounds = 10;
        input.participation = {};
    }
    input.participation = {5};
    input.spatial = &find_mechanism("spatial-mechanism", "cdp");
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_space_time(input); }),
                         "spatial-mechanism: cdp"));
}

TEST(Cdp, HasTheObjectiveHorizonOverAgents) {
    for (const auto& setting : settings({1, 5, 12}))
        for (const long horizon : {1L, 10L, 200L}) {
            const Design design = design_cdp(setting.input(horizon));
            EXPECT_TRUE(relatively_near(design.objective,
                                        static_cast<double>(horizon) / setting.named.graph.agents(),
                                        1e-12));
            EXPECT_EQ(design.plan.aggregation, Aggregation::trusted_mean);
        }
}

TEST(Decor, AddsOneCancellingStreamPerEdge) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const Graph& graph = setting.named.graph;
        const Design design = design_decor(setting.input(200));
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

TEST(Corn, InjectsTheOptimalCovarianceFromOneSharedSeed) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const DesignInput input = setting.input(20);
        const Design design = design_corn(input);
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
            const Design corn = design_corn(setting.input(horizon));
            const Design cdp = design_cdp(setting.input(horizon));
            EXPECT_TRUE(relatively_near(corn.objective, cdp.objective, 1e-2)) << n;
            EXPECT_GE(corn.objective, cdp.objective * (1 - 1e-12));
            EXPECT_TRUE(corn.capped);
        }
    }
}

TEST(Pairs, CancelExactlyInTheMeanButForPrivateNoise) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        DesignInput input = setting.input(50);
        ask_like_the_program(input, find_mechanism("mechanism", "pairs"));
        const NoisePlan plan = design_pairs(input).plan;
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
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_pairs(input); }), "corn-hbc"));
    EXPECT_GT(design_corn_hbc(input).objective, 0);
}

TEST(CornHbc, IsNeverWorseThanPairsOfTheSameGroups) {
    for (const auto& setting : settings({6})) {
        SCOPED_TRACE(setting.named.name);
        for (const int q : {0, 1, 2}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            input.seed_groups = make_seed_groups("edges", setting.named.graph);
            EXPECT_LE(design_corn_hbc(input).objective, design_pairs(input).objective * (1 + 3e-5));
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
            const Design design = design_decor(input);
            EXPECT_LE(coalition_precision(design.plan, q).maxCoeff(), 1 + 1e-9);
            EXPECT_GE(design.objective, before * (1 - 1e-9));  // more colluders, more noise
            EXPECT_LE(design.lower_bound, design.objective * (1 + 1e-12));
            before = design.objective;
        }
    }
}

TEST(MakeSeedGroups, KnowsEveryChoice) {
    const Graph ring = make_graph(Topology::ring, 5);
    EXPECT_EQ(make_seed_groups("edges", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("all-pairs", ring).size(), 10U);
    EXPECT_EQ(make_seed_groups("circulant:2", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("circulant:100", ring).size(), 10U);
    EXPECT_EQ(make_seed_groups("neighbourhoods", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("all", ring).front().members, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(make_seed_groups("all-pairs", make_graph(Topology::complete, 1)).empty());
    const auto message = [&](const std::string& choice) {
        return message_of<ConfigError>([&] { (void)make_seed_groups(choice, ring); });
    };
    EXPECT_TRUE(contains(message("circulant:3"), "even"));
    EXPECT_TRUE(contains(message("edgs"), "did you mean 'edges'"));
}

TEST(MakeSeedGroups, ReadsAFileAndNamesTheLineThatIsWrong) {
    const Graph ring = make_graph(Topology::ring, 5);
    const TemporaryDirectory folder;
    const auto path = folder / "groups.txt";
    const auto read = [&](const std::string& text) {
        write_file_atomically(path, text);
        return make_seed_groups(path.string(), ring);
    };
    const auto groups = read("# two groups\n3, 1\n0 2 4\n");
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].members, (std::vector<int>{1, 3}));
    EXPECT_EQ(groups[1].members, (std::vector<int>{0, 2, 4}));
    for (const std::string bad : {"1\n", "0 0\n", "0 5\n", "0 x\n", "\n"})
        EXPECT_TRUE(contains(message_of<DataError>([&] { (void)read(bad); }), path.string()))
            << bad;
}

TEST(RelativeLimits, HaveTheSmallestKappaAsTheirUnit) {
    const RelativeLimits limits = relative_limits(Eigen::Vector3d(4, 0.5, 2));
    EXPECT_EQ(limits.unit, 0.5);
    EXPECT_EQ(limits.kappa, Eigen::VectorXd(Eigen::Vector3d(8, 1, 4)));
}

TEST(FinishPlan, RaisesTheScaleUntilTheBudgetIsMet) {
    const Setting setting = settings({6}).front();
    NoisePlan plan = design_corn(setting.input(10)).plan;
    const double scale = plan.scale;
    plan.scale *= 0.5;
    finish_plan(plan, Eigen::VectorXd::Ones(6));
    EXPECT_TRUE(relatively_near(plan.scale, scale, 1e-9));
    // Up to rounding, which depends on the processor; verification forgives 1e-9.
    EXPECT_LE(observed_precision(plan, {}).maxCoeff() - 1, 1e-10);
    // More noise than necessary is left alone.
    plan.scale = 3 * scale;
    finish_plan(plan, Eigen::VectorXd::Ones(6));
    EXPECT_EQ(plan.scale, 3 * scale);
}

TEST(FinishPlan, RefusesNoiseThatDoesNotCoverEveryAgent) {
    NoisePlan plan = design_ldp(settings({6}).front().input(10)).plan;
    plan.rows[2].coefficients[0] = 0;
    EXPECT_TRUE(
        contains(message_of<PrivacyError>([&] { finish_plan(plan, Eigen::VectorXd::Ones(6)); }),
                 "does not cover every agent"));
}

// Solutions are shared between designs of one process: only by those that ask for the same.
TEST(DesignOfSeedGroups, IsTheOneOfItsOwnInputHoweverManyWereMadeBefore) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2, 0.6);
    const Setting setting{{"random", graph},
                          MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput base = setting.input(30);
    base.seed_groups = make_seed_groups("all-pairs", *base.graph);
    base.coalition_size = 1;
    std::vector<DesignInput> inputs(7, base);
    inputs[1].utility.horizon = 3;
    inputs[2].kappa(4) = 2;
    inputs[3].coalition_size = 2;
    inputs[4].common_variance = true;
    inputs[5].seed_groups = make_seed_groups("circulant:2", *base.graph);
    inputs[6].variance_cap = 1.3;
    for (Design (*design)(const DesignInput&) : {design_pairs, design_corn_hbc}) {
        std::vector<Design> first;
        for (const DesignInput& input : inputs) first.push_back(design(input));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            SCOPED_TRACE(fmt::format("input {}", i));
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_GT(std::abs(first[i].objective - first[j].objective),
                          1e-3 * first[i].objective)
                    << "cannot be told from " << j;
            DesignInput louder = inputs[i];  // the same problem for half the epsilon
            louder.kappa /= 4;
            const Design again = design(louder);
            EXPECT_EQ(again.objective, first[i].objective);
            EXPECT_EQ(again.plan.scale, 2 * first[i].plan.scale);
            ASSERT_EQ(again.plan.rows.size(), first[i].plan.rows.size());
            for (std::size_t row = 0; row < again.plan.rows.size(); ++row)
                EXPECT_EQ(again.plan.rows[row].coefficients, first[i].plan.rows[row].coefficients);
        }
    }
    EXPECT_NE(design_pairs(base).objective, design_corn_hbc(base).objective);
}

}  // namespace
}  // namespace sotto
