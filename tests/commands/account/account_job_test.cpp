#include "commands/account/account_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/ledger_views.hpp"
#include "run/run_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

Graph ring(int agents) {
    TopologySpec spec;
    spec.topology = Topology::ring;
    spec.agents = agents;
    return make_topology(spec).graph;
}

TEST(ParseView, ReadsEveryKindAndNamesItBack) {
    const Graph graph = ring(6);
    for (const char* text : {"eavesdropper",
                             "node:3",
                             "coalition:0,2,5",
                             "secure-sum:1",
                             "all-messages:4,5",
                             "all-nodes",
                             "worst-coalition:2",
                             "worst-all-messages:5"})
        EXPECT_EQ(name_of(parse_view("--view", text, graph)), text);
    EXPECT_EQ(parse_view("--view", "coalition:5,0,2", graph).members, (std::vector<int>{0, 2, 5}));
    EXPECT_EQ(parse_view("--view", "all-messages:4", graph).view_kind(), View::Kind::all_messages);
    EXPECT_EQ(parse_view("--view", "secure-sum:4", graph).view_kind(), View::Kind::secure_sum);
    EXPECT_EQ(parse_view("--view", "worst-coalition:2", graph).view_kind(), View::Kind::neighbours);
    const auto several = parse_views("--view", "node:1;eavesdropper", graph);
    ASSERT_EQ(several.size(), 2u);
    EXPECT_EQ(name_of(several[1]), "eavesdropper");
}

TEST(ParseView, SaysWhatIsAllowed) {
    const Graph numbers = ring(6);
    const auto message = [](const char* text, const Graph& graph) {
        return message_of<ConfigError>([&] { (void)parse_view("--view", text, graph); });
    };
    expect_contains(message("nodee:1", numbers), "did you mean 'node'?");
    expect_contains(message("node:6", numbers), "agent 6 does not exist (allowed: 0 to 5)");
    expect_contains(message("node:1,2", numbers), "coalition:1,2");
    expect_contains(message("coalition:1,1", numbers), "agent 1 is named twice");
    expect_contains(message("coalition", numbers), "coalition:0,3");
    expect_contains(message("all-nodes:1", numbers), "takes nothing after it");
    for (const char* size : {"worst-coalition:0", "worst-coalition:6"})
        expect_contains(message(size, numbers), "must be 1 to 5");
    const Graph labels = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"alba", "bruno", "carla"});
    expect_contains(message("node:bruno", labels), "label 'bruno' is agent 1");
    expect_contains(message("node:7", labels), "2 is 'carla'");
}

TEST(ArgumentOf, IsSoundForTrainingOnlyWithAllMessages) {
    const View all{View::Kind::all_messages, {}}, some{View::Kind::neighbours, {1}};
    const auto expect = [](const Argument& argument, const std::string& text, bool sound) {
        EXPECT_EQ(argument.text, text);
        EXPECT_EQ(argument.sound, sound) << text;
    };
    const auto gaussian = StreamDistribution::gaussian, laplace = StreamDistribution::laplace;
    expect(argument_of(all, false, gaussian), "all messages seen", true);
    expect(argument_of(some, false, gaussian), "non-adaptive ([U] Theorem 8)", false);
    expect(argument_of({View::Kind::secure_sum, {1}}, true, gaussian),
           "exact, inputs fixed in advance",
           true);
    for (const bool fixed : {false, true}) {
        expect(argument_of(all, fixed, laplace), "all messages seen", true);
        expect(argument_of(some, fixed, laplace), "bound: all messages seen", true);
    }
}

AccountConfig config_of(const std::string& mechanism, const std::string& view, long rounds = 6) {
    AccountConfig config;
    config.graph.topology.agents = 7;
    config.graph.topology.edge_probability = 0.4;
    config.plan.mechanism = mechanism;
    config.plan.utility = {Utility::Kind::horizon, 10};
    config.plan.rounds = rounds;
    config.plan.noise_std = 1;
    config.view = view;
    return config;
}

struct Accounted {
    std::unique_ptr<AccountSubject> subject;
    AccountResult result;
};
Accounted account(const AccountConfig& config) {
    const auto network = make_memory_network(1, config.how.threads);
    Accounted accounted;
    accounted.subject = build_account_subject(config, *network);
    accounted.result = run_account(config, *accounted.subject, *network);
    return accounted;
}

TEST(BuildAccountSubject, MeansByNoiseStdWhatHidesAnAgentInOneRound) {
    for (const std::string mechanism : {"ldp", "decor", "pairs", "corn", "anti-pgd"})
        for (const double noise_std : {0.5, 3.0}) {
            AccountConfig config = config_of(mechanism, "eavesdropper");
            config.plan.noise_std = noise_std;
            config.sensitivity = 2;
            const Accounted accounted = account(config);
            const NoisePlan& plan = accounted.subject->plan;
            const double largest = coalition_precision(plan, plan.coalition_size).maxCoeff();
            EXPECT_NEAR(largest * noise_std * noise_std, 1, 1e-6) << mechanism;
            EXPECT_EQ(accounted.subject->exposures[0].sensitivity, 2);
        }
    AccountConfig config = config_of("ldp", "eavesdropper");
    config.plan.plan_file = "any.json";
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }), "--noise-std");
}

TEST(RunAccount, GivesTheEavesdropperTheGuaranteeOfThePlan) {
    for (const std::string mechanism : {"ldp", "decor", "pairs", "corn", "cdp", "anti-pgd"}) {
        AccountConfig config = config_of(mechanism, "eavesdropper");
        config.plan.noise_std.reset();
        const Accounted accounted = account(config);
        const auto expected = guarantees(
            accounted.subject->plan, {}, accounted.subject->exposures, config.plan.delta);
        ASSERT_EQ(accounted.result.pairs.size(), 7u);
        for (const PairFigure& pair : accounted.result.pairs) {
            EXPECT_NEAR(pair.guarantee.mu, expected[static_cast<std::size_t>(pair.target)].mu, 1e-9)
                << mechanism;
            EXPECT_NEAR(pair.guarantee.epsilon, pair.ldp_epsilon, 1e-8);
            EXPECT_EQ(pair.distance, -1);
            EXPECT_EQ(pair.argument.text, "all messages seen");
        }
        EXPECT_TRUE(accounted.result.by_distance.empty());
        if (mechanism == "ldp") {
            EXPECT_NEAR(accounted.result.mean_epsilon, 10, 1e-6);
        }
    }
}

AccountConfig laplace_config(const std::string& mechanism, const std::string& view, long rounds) {
    AccountConfig config = config_of(mechanism, view, rounds);
    config.graph.mixing = "lazy-metropolis";
    config.plan.noise_std.reset();
    config.plan.epsilon = 4;
    config.plan.steps = {StepSchedule::Kind::constant, 0.2, {}};
    return config;
}

TEST(RunAccount, GivesThePureEpsilonOfItsSourceUnderLaplaceNoise) {
    // [H] eq. 27: after i rounds epsilon = step G (i^2 + i) / b, gradients of L1 norm G.
    for (const long rounds : {1L, 2L, 7L}) {
        AccountConfig config = laplace_config("homomorphic", "eavesdropper", rounds);
        config.plan.clip_norm = 0.3;
        const Accounted accounted = account(config);
        const NoisePlan& plan = accounted.subject->plan;
        for (const PairFigure& pair : accounted.result.pairs) {
            double scale = 0;
            for (const NoiseRow& row : plan.rows)
                if (row.sender == pair.target && row.receiver != pair.target)
                    scale = plan.scale * row.coefficients.front();
            const auto i = static_cast<double>(rounds);
            EXPECT_NEAR(pair.guarantee.epsilon, 0.2 * 0.3 * (i * i + i) / scale, 1e-9);
            EXPECT_NEAR(pair.guarantee.epsilon, 4, 1e-6) << "the budget is used up";
            EXPECT_TRUE(std::isnan(pair.guarantee.mu));
        }
    }
}

TEST(RunAccount, BoundsPartialViewsByAllMessagesUnderLaplaceNoise) {
    for (const std::string mechanism : {"homomorphic", "laplace"})
        for (const std::string view :
             {"node:2", "coalition:0,3", "all-nodes", "worst-coalition:2", "all-messages:1"}) {
            SCOPED_TRACE(mechanism + " " + view);
            const AccountConfig config = laplace_config(mechanism, view, 5);
            const Accounted accounted = account(config);
            const auto expected = guarantees(
                accounted.subject->plan, {}, accounted.subject->exposures, config.plan.delta);
            for (const PairFigure& pair : accounted.result.pairs) {
                EXPECT_NEAR(pair.guarantee.epsilon,
                            expected[static_cast<std::size_t>(pair.target)].epsilon,
                            1e-9);
                EXPECT_NEAR(pair.ldp_epsilon, pair.guarantee.epsilon, 1e-9);
                EXPECT_EQ(
                    pair.argument.text,
                    view == "all-messages:1" ? "all messages seen" : "bound: all messages seen");
                EXPECT_FALSE(pair.muffliato_epsilon);
            }
            if (view == "worst-coalition:2") {
                EXPECT_TRUE(accounted.result.search->bound_attained);
                EXPECT_NEAR(accounted.result.search->upper.epsilon, 4, 1e-6);
            }
            const Json json =
                Json::parse(account_report_json(accounted.result, config, *accounted.subject));
            EXPECT_EQ(json["delta"], 0);
            for (const Json& pair : json["pairs"]) {
                EXPECT_TRUE(pair["mu"].is_null() && pair["renyi_alpha2"].is_null());
                EXPECT_TRUE(pair["sensitivity_squared"]["abs_sum"].is_null());
                EXPECT_FALSE(pair["sensitivity_squared"]["all_messages"].is_null());
                EXPECT_EQ(pair["infinite"], false);
            }
        }
}

TEST(RunAccount, RefusesWhatHasNoMeaningUnderLaplaceNoise) {
    AccountConfig config = laplace_config("homomorphic", "secure-sum:1", 5);
    expect_contains(message_of<PrivacyError>([&] { (void)account(config); }),
                    "secure-sum is not possible with mechanism homomorphic");
    config = laplace_config("laplace", "secure-sum:1", 5);
    EXPECT_EQ(account(config).result.pairs[0].argument.text, "bound: all messages seen");
    config.departures = "2:3";
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }),
                    "--departures: not possible with mechanism laplace");
}

TEST(RunAccount, AsksEveryNodeAboutEveryOther) {
    const Accounted all = account(config_of("decor", "all-nodes"));
    ASSERT_EQ(all.result.pairs.size(), 42u);
    double sum = 0;
    for (const PairFigure& pair : all.result.pairs) {
        ASSERT_EQ(pair.observers.size(), 1u);
        AccountConfig config = config_of("decor", fmt::format("node:{}", pair.observers[0]));
        config.targets = std::to_string(pair.target);
        const Accounted one = account(config);
        ASSERT_EQ(one.result.pairs.size(), 1u);
        EXPECT_NEAR(one.result.pairs[0].guarantee.mu, pair.guarantee.mu, 1e-12);
        EXPECT_EQ(one.result.pairs[0].distance, pair.distance);
        EXPECT_EQ(pair.distance,
                  all.subject->built.topography.graph.distances_from(
                      pair.observers[0])[static_cast<std::size_t>(pair.target)]);
        sum += pair.guarantee.epsilon;
    }
    EXPECT_NEAR(all.result.mean_epsilon, sum / 42, 1e-12);
    EXPECT_TRUE(std::ranges::is_sorted(all.result.pairs, [](const auto& a, const auto& b) {
        return a.guarantee.mu > b.guarantee.mu;
    }));
    int pairs = 0;
    double weighted = 0;
    for (const DistanceRow& row : all.result.by_distance) {
        EXPECT_LE(row.min, row.mean);
        EXPECT_LE(row.mean, row.max);
        EXPECT_FALSE(row.muffliato) << "decor has shared noise";
        pairs += row.pairs;
        weighted += row.pairs * row.mean;
    }
    EXPECT_EQ(pairs, 42);
    EXPECT_NEAR(weighted, sum, 1e-9);
}

TEST(RunAccount, ComparesWithTheMuffliatoBoundWhereItApplies) {
    const Accounted ldp = account(config_of("ldp", "node:0"));
    const Eigen::VectorXd bound = muffliato_bound(
        ldp.subject->built.topography.graph, ldp.subject->built.topography.mixing, 0, 6);
    for (const PairFigure& pair : ldp.result.pairs) {
        ASSERT_TRUE(pair.muffliato_epsilon);
        EXPECT_NEAR(
            *pair.muffliato_epsilon, gdp_epsilon(std::sqrt(bound(pair.target)), 1e-5), 1e-9);
    }
    AccountConfig config = config_of("ldp", "node:0");
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    EXPECT_FALSE(account(config).result.pairs[0].muffliato_epsilon);
    config = config_of("muffliato", "node:0");
    config.plan.gossip_steps = 2;
    EXPECT_FALSE(account(config).result.pairs[0].muffliato_epsilon);
}

TEST(RunAccount, SaysInfiniteWhereOneSeedIsShared) {
    const AccountConfig config = config_of("corn", "node:0");
    const Accounted accounted = account(config);
    for (const PairFigure& pair : accounted.result.pairs) {
        EXPECT_TRUE(std::isinf(pair.guarantee.mu));
        EXPECT_TRUE(std::isinf(pair.guarantee.epsilon));
    }
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    for (const Json& pair : json["pairs"]) {
        EXPECT_TRUE(pair["mu"].is_null() && pair["epsilon"].is_null());
        EXPECT_TRUE(pair["sensitivity_squared"]["abs_sum"].is_null());
        EXPECT_EQ(pair["infinite"], true);
    }
    EXPECT_TRUE(json["mean_epsilon"].is_null());
    expect_contains(account_report_text(accounted.result, config, *accounted.subject),
                    "NOT protected: in 6 of 6 pairs");
}

/// Largest mu of any coalition of this size, found by trying all.
double worst_by_trying(const AccountSubject& subject, View::Kind kind, int size) {
    double largest = 0;
    for_each_coalition(subject.plan.agents, size, [&](const std::vector<int>& members) {
        std::vector<int> targets;
        for (int u = 0; u < subject.plan.agents; ++u)
            if (!std::ranges::binary_search(members, u)) targets.push_back(u);
        for (const auto& squared :
             view_sensitivity(subject.process, {kind, members}, targets, {}, {}))
            largest = std::max(largest, std::sqrt(squared.certified()));
    });
    return largest;
}

TEST(WorstCoalition, IsFoundByTryingAllWhereTheyAreFew) {
    for (const std::string mechanism : {"ldp", "decor", "pairs"}) {
        const Accounted accounted = account(config_of(mechanism, "worst-coalition:2"));
        ASSERT_TRUE(accounted.result.search);
        EXPECT_TRUE(accounted.result.search->exhaustive);
        EXPECT_EQ(accounted.result.search->evaluated, 21);
        EXPECT_EQ(accounted.result.pairs.size(), 7u) << "one for each target";
        EXPECT_NEAR(accounted.result.pairs[0].guarantee.mu,
                    worst_by_trying(*accounted.subject, View::Kind::neighbours, 2),
                    1e-9);
        EXPECT_LE(accounted.result.pairs[0].guarantee.mu,
                  accounted.result.search->upper.mu * (1 + 1e-9));
    }
    const Accounted all = account(config_of("decor", "worst-all-messages:2"));
    EXPECT_NEAR(all.result.pairs[0].guarantee.mu,
                std::sqrt(6 * coalition_precision(all.subject->plan, 2).maxCoeff()),
                1e-9);
    EXPECT_TRUE(all.result.search->bound_attained);
}

TEST(WorstCoalition, IsSearchedForWhereTheyAreMany) {
    for (const std::string mechanism : {"ldp", "decor"}) {
        AccountConfig config = config_of(mechanism, "worst-coalition:3", 3);
        config.graph.topology.agents = 20;
        config.graph.topology.edge_probability = 0.2;
        config.graph.topology.graph_seed = 3;
        const Accounted accounted = account(config);
        const CoalitionSearch& search = *accounted.result.search;
        EXPECT_FALSE(search.exhaustive);
        EXPECT_EQ(search.total, 1140);
        EXPECT_LT(search.evaluated, 1140);
        const double worst = worst_by_trying(*accounted.subject, View::Kind::neighbours, 3);
        const PairFigure& found = accounted.result.pairs[0];
        EXPECT_LE(found.guarantee.mu, worst * (1 + 1e-9));
        EXPECT_GE(found.guarantee.mu, 0.99 * worst) << mechanism;
        EXPECT_LE(worst, search.upper.mu * (1 + 1e-9)) << "the upper bound holds";
        if (search.bound_attained) {
            EXPECT_NEAR(found.guarantee.mu, worst, 1e-6 * worst);
        }
        // The pair stands for what it says.
        const auto again = view_sensitivity(accounted.subject->process,
                                            {View::Kind::neighbours, found.observers},
                                            std::vector<int>{found.target},
                                            {},
                                            {});
        EXPECT_NEAR(std::sqrt(again[0].certified()), found.guarantee.mu, 1e-9);
    }
}

TEST(PhasesOf, MixAmongThoseWhoStay) {
    const Graph graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
    const Topography topography{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    const auto phases = phases_of(topography, "metropolis", "4:2;6:0", 10);
    ASSERT_EQ(phases.size(), 3u);
    EXPECT_EQ(phases[0].rounds, 4);
    EXPECT_EQ(phases[1].rounds, 2);
    EXPECT_EQ(phases[2].rounds, 4);
    EXPECT_TRUE(phases[0].departed.empty());
    EXPECT_EQ(phases[1].departed, (std::vector<int>{2}));
    EXPECT_EQ(phases[2].departed, (std::vector<int>{0, 2}));
    EXPECT_EQ(phases[0].mixing.at(0).dense(), topography.mixing.dense());
    // Without 2: edges 01, 13, 34, 40, all degrees 2.
    const MixingMatrix& second = phases[1].mixing.at(0);
    EXPECT_EQ(second.weight(2, 2), 1);
    for (const auto& [u, v] : std::vector<Edge>{{0, 1}, {1, 3}, {3, 4}, {0, 4}})
        EXPECT_NEAR(second.weight(u, v), 1.0 / 3, 1e-15);
    EXPECT_EQ(second.weight(1, 2), 0);
    // Without 0 and 2: the path 1 - 3 - 4.
    EXPECT_NEAR(phases[2].mixing.at(0).weight(1, 1), 2.0 / 3, 1e-15);
    EXPECT_NEAR(phases[2].mixing.at(0).weight(3, 3), 1.0 / 3, 1e-15);

    const auto refused = [&](const std::string& departures) {
        return message_of<ConfigError>(
            [&] { (void)phases_of(topography, "metropolis", departures, 10); });
    };
    expect_contains(refused("4"), "ROUND:AGENTS");
    expect_contains(refused("0:1"), "from 1 to 9");
    expect_contains(refused("10:1"), "from 1 to 9");
    expect_contains(refused("5:1;5:2"), "ascend");
    expect_contains(refused("3:1;5:1"), "agent 1 has already left");
    expect_contains(refused("3:0,1,2,3,4"), "nobody is left");
    expect_contains(refused("3:9"), "agent 9 does not exist");
    expect_contains(
        message_of<ConfigError>([&] { (void)phases_of(topography, "some.npy", "3:1", 10); }),
        "some.npy");
}

TEST(BuildTopography, ReadsAStackOfMixingMatricesAsASchedule) {
    const TemporaryFolder folder;
    const Graph graph = ring(4);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const Eigen::MatrixXd lazy =
        MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis).dense();
    Eigen::MatrixXd stack(8, 4);
    stack << mixing.dense(), lazy;
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 4;
    const auto with = [&](const std::string& name) {
        config.mixing_schedule = folder.path(name);
        return build_topography(config, 1).topography;
    };
    write_npy(folder.path("stack.npy"), stack);
    const Topography topography = with("stack.npy");
    const auto phases = phases_of(topography, "metropolis", "", 10);
    ASSERT_EQ(phases.size(), 1u);
    EXPECT_EQ(phases[0].mixing.at(2).dense(), mixing.dense());
    EXPECT_EQ(phases[0].mixing.at(3).dense(), lazy);
    expect_contains(
        message_of<ConfigError>([&] { (void)phases_of(topography, "metropolis", "4:2", 10); }),
        "not possible with --mixing-schedule");
    write_npy(folder.path("bad.npy"), Eigen::MatrixXd(stack.topRows(6)));
    expect_contains(message_of<DataError>([&] { (void)with("bad.npy"); }), "6 x 4");
    stack(5, 0) = 0.9;
    write_npy(folder.path("sum.npy"), stack);
    expect_contains(message_of<DataError>([&] { (void)with("sum.npy"); }), "matrix 1");
    config.mixing_schedule = "randon";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 1); }), "random");
}

TEST(PlanNoise, RefusesMechanismsMadeForOneMixingMatrixWhereMixingChanges) {
    GraphConfig graph;
    graph.topology.topology = Topology::ring;
    graph.topology.agents = 5;
    graph.mixing_schedule = "random";
    const Topography topography = build_topography(graph, 8).topography;
    ASSERT_EQ(topography.later_mixing.size(), 7u);
    PlanConfig config;
    config.rounds = 8;
    const auto plan = [&](const std::string& mechanism) {
        config.mechanism = mechanism;
        auto exposures = build_exposures(config, 5, {});
        auto budgets = build_budgets(config, 5);
        const PlannedNoise planned = plan_noise(config, topography, exposures, budgets);
        count_plan(planned.design.plan, config, topography, exposures, budgets);
        return planned.design;
    };
    for (const char* mechanism : {"anti-pgd", "zip-dl", "homomorphic"})
        expect_contains(message_of<ConfigError>([&] { (void)plan(mechanism); }),
                        "mixing-schedule: not possible with mechanism " + std::string(mechanism));
    // The plan is solved for the schedule: its objective is that of the noise it injects.
    for (const char* mechanism : {"ldp", "corn", "pairs"}) {
        const Design design = plan(mechanism);
        const Eigen::MatrixXd utility =
            utility_matrix(topography.schedule(), config.utility, config.rounds, 1);
        const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
        const double left = utility.cwiseProduct(covariance).sum();
        const double alone = utility.diagonal().sum();
        const auto exposures = build_exposures(config, 5, {});
        const double kappa = precision_limit(build_budgets(config, 5).front(), exposures.front());
        EXPECT_NEAR(design.objective, left * kappa, 1e-6 * left * kappa) << mechanism;
        EXPECT_LE(design.objective, alone * (1 + 1e-9));
    }
}

TEST(AccountMatrices, AccountForSomebodyElsesObservations) {
    const TemporaryFolder folder;
    // Two agents, two rounds; both rounds' inputs of agent 0 through one noise each.
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 4), b = 0.5 * Eigen::MatrixXd::Identity(2, 2);
    a(0, 0) = 1;
    a(1, 2) = 1;
    a(1, 1) = 0.5;
    write_npy(folder.path("a.npy"), a);
    write_npy(folder.path("b.npy"), b);
    const auto run = [&](const std::string& targets) {
        return account_matrices(
            folder.path("a.npy"), folder.path("b.npy"), 2, targets, 2, {}, 1e-5);
    };
    const AccountResult result = run("all");
    ASSERT_EQ(result.pairs.size(), 2u);
    EXPECT_EQ(result.pairs[0].target, 0);
    EXPECT_NEAR(result.pairs[0].guarantee.mu, 2 * std::sqrt(8), 1e-9);
    EXPECT_NEAR(result.pairs[1].guarantee.mu, 2 * 0.5 / 0.5, 1e-9);
    expect_contains(message_of<ConfigError>([&] { (void)run("2"); }), "agent 2 does not exist");
}

TEST(LedgerViews, SayWhatTheAccountantSays) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "decor", 12);
    config.run_directory = folder.path("run");
    config.views = "node:1;all-messages:1;all-nodes;secure-sum:0,2";
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    config.plan.gossip_steps = 2;
    const auto network = make_memory_network(5, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    ASSERT_EQ(ledger["views"].size(), 4u);

    const Graph graph = ring(5);
    const NoisePlan plan = plan_from_json(read_file(folder.path("run") + "/plan.json"), "plan");
    MessageProcess process;
    process.graph = &graph;
    process.plan = &plan;
    process.phases.push_back(
        {12, MixingSchedule({MixingMatrix::from_rule(graph, MixingRule::metropolis)}), {}});
    process.gossip_steps = 2;
    for (long t = 0; t < 12; ++t) process.step_sizes.push_back(config.plan.steps.at(t));
    const std::vector<int> others{0, 2, 3, 4};
    double largest = 0, bound = 0;
    for (const auto& squared :
         view_sensitivity(process, {View::Kind::neighbours, {1}}, others, {}, {})) {
        largest = std::max(largest, std::sqrt(squared.certified()));
        bound = std::max(bound, std::sqrt(std::min(squared.abs_sum, squared.trivial)));
    }
    const double unit = ledger["agents"][0]["sensitivity"];
    const Json& node = ledger["views"][0];
    EXPECT_EQ(node["view"], "node:1");
    EXPECT_EQ(node["argument"], "non-adaptive ([U] Theorem 8)");
    EXPECT_EQ(node["rounds"], 12);
    EXPECT_EQ(node["observers"], Json::array({1}));
    EXPECT_GE(node["mu"].get<double>(), unit * largest * (1 - 1e-9));
    EXPECT_LE(node["mu"].get<double>(), unit * bound * (1 + 1e-9));
    expect_contains(node["statement"], "not a guarantee");

    const auto headline = guarantees(plan, {{1}}, std::vector<Exposure>(5, {unit, 12, 1}), 1e-5);
    double all_messages = 0;
    for (const int u : others)
        all_messages = std::max(all_messages, headline[static_cast<std::size_t>(u)].mu);
    EXPECT_NEAR(ledger["views"][1]["mu"], all_messages, 1e-9 * all_messages);
    EXPECT_EQ(ledger["views"][1]["argument"], "all messages seen");
    EXPECT_GE(ledger["views"][2]["mu"].get<double>(), node["mu"].get<double>() * (1 - 1e-9));
    EXPECT_EQ(ledger["headline"]["argument"], "adaptive");

    config.run_directory = folder.path("other");
    for (const auto& [views, part] :
         std::vector<std::pair<std::string, std::string>>{{"node:5", "agent 5 does not exist"},
                                                          {"worst-coalition:1", "sotto account"},
                                                          {"coalition:0,1,2,3,4", "nobody"}}) {
        config.views = views;
        const auto fresh = make_memory_network(5, 1);
        expect_contains(message_of<ConfigError>([&] {
                            (void)run_training(config, *fresh, silent, [] { return false; });
                        }),
                        part);
    }
}

TEST(LedgerViews, SayThePureEpsilonUnderLaplaceNoise) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "homomorphic", 4);
    config.run_directory = folder.path("run");
    config.views = "node:1;eavesdropper";
    config.l2 = 0.1;
    const auto network = make_memory_network(5, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    ASSERT_EQ(ledger["views"].size(), 2u);
    for (const Json& view : ledger["views"]) {
        EXPECT_TRUE(view["mu"].is_null());
        EXPECT_EQ(view["infinite"], false);
        EXPECT_NEAR(view["epsilon"], ledger["headline"]["epsilon"], 1e-9);
        EXPECT_EQ(view["statement"].get<std::string>().find("not a guarantee"), std::string::npos);
    }
    EXPECT_EQ(ledger["views"][0]["argument"], "bound: all messages seen");
    EXPECT_EQ(ledger["views"][1]["argument"], "all messages seen");
}

TEST(LedgerViews, SayInWordsThatASharedSeedBreaksTheProtection) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "corn", 6);
    config.run_directory = folder.path("run");
    config.views = "node:2;eavesdropper";
    const auto network = make_memory_network(4, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    EXPECT_TRUE(ledger["views"][0]["mu"].is_null());
    EXPECT_TRUE(ledger["views"][0]["mean_epsilon"].is_null());
    EXPECT_EQ(ledger["views"][0]["infinite"], true);
    expect_contains(ledger["views"][0]["statement"], "breaks the protection");
    EXPECT_EQ(ledger["views"][1]["infinite"], false);
    EXPECT_NEAR(ledger["views"][1]["epsilon"], ledger["headline"]["epsilon"], 1e-6);
}

}  // namespace
}  // namespace sotto
