#include "run/planning.hpp"

#include <cmath>

#include "run/run_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

PlanConfig config_of(const std::string& mechanism) {
    PlanConfig config;
    config.mechanism = mechanism;
    config.utility = {Utility::Kind::horizon, 10};
    config.rounds = 100;
    if (find_mechanism("mechanism", mechanism).correlates_rounds) {
        config.rounds = 20;
        config.adjacency = Adjacency::record;
        config.participation = {5};
        config.spatial_mechanism = "corn";
    }
    return config;
}

Topography random_topography(int agents) {
    GraphConfig config;
    config.topology.agents = agents;
    return build_topography(config, 1).topography;
}

struct Planned {
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
    PlannedNoise planned;
};
Planned plan(const PlanConfig& config,
             const Topography& topography,
             const std::vector<Eigen::Index>& records = {}) {
    const int agents = topography.graph.agents();
    Planned result;
    result.exposures = build_exposures(config, agents, records);
    result.budgets = build_budgets(config, agents);
    result.planned = plan_noise(config, topography, result.exposures, result.budgets);
    count_plan(result.planned.design.plan, config, topography, result.exposures, result.budgets);
    return result;
}

TEST(BuildTopography, MakesTheConfiguredGraphAndSaysHow) {
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 6;
    config.mixing = "lazy-metropolis";
    const BuiltTopography ring = build_topography(config, 1);
    EXPECT_EQ(ring.topography.graph.edges().size(), 6u);
    EXPECT_DOUBLE_EQ(ring.topography.mixing.weight(0, 0), 2.0 / 3);
    EXPECT_EQ(ring.description, "ring");
    EXPECT_TRUE(ring.notes.empty());

    config.topology.topology = Topology::erdos_renyi;
    config.topology.edge_probability = 0.25;
    const BuiltTopography random = build_topography(config, 1);
    EXPECT_TRUE(random.topography.graph.connected());
    expect_contains(random.description, "0.25");

    const TemporaryFolder folder;
    config.file = folder.write("two.edges", "1 2\n2 3\n7 8\n");
    const BuiltTopography file = build_topography(config, 1);
    EXPECT_EQ(file.topography.graph.agents(), 3);
    expect_contains(file.description, "two.edges");
    ASSERT_EQ(file.notes.size(), 1u);
    expect_contains(file.notes.front(), "3 of 5 agents");
    config.file = folder.path("missing.edges");
    EXPECT_THROW((void)build_topography(config, 1), DataError);
}

TEST(BuildBudgets, GiveEveryAgentTheConfiguredOne) {
    const PlanConfig config = config_of("corn");
    const auto budgets = build_budgets(config, 3);
    ASSERT_EQ(budgets.size(), 3u);
    for (const auto& budget : budgets) {
        EXPECT_EQ(budget.epsilon, 10);
        EXPECT_DOUBLE_EQ(budget.mu, gdp_mu(10, 1e-5));
    }
    // Without noise there is nothing to promise: mu 0 says so.
    for (const auto& budget : build_budgets(config_of("none"), 3)) EXPECT_EQ(budget.mu, 0);
    EXPECT_THROW((void)build_budgets(config_of("corm"), 3), ConfigError);
    for (const double bad : {0.0, -1.0, std::nan("")}) {
        PlanConfig wrong = config;
        wrong.epsilon = bad;
        EXPECT_THROW((void)build_budgets(wrong, 3), ConfigError);
    }
}

TEST(BuildBudgets, ReadsBothFormatsOfAFile) {
    const TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    for (const char* text :
         {"1\n2.5\n\n# comment\n4 # of agent 2\n", "2 4\n0 1\n1 2.5\n", "1, 2.5\r\n0,1\r\n2\t4"}) {
        config.budgets_file = folder.write("budgets.txt", text);
        const auto budgets = build_budgets(config, 3);
        ASSERT_EQ(budgets.size(), 3u);
        EXPECT_EQ(budgets[0].epsilon, 1);
        EXPECT_EQ(budgets[1].epsilon, 2.5);
        EXPECT_EQ(budgets[2].epsilon, 4);
        for (const auto& budget : budgets)
            EXPECT_DOUBLE_EQ(budget.mu, gdp_mu(budget.epsilon, config.delta));
    }
}

TEST(BuildBudgets, RefusesFilesThatLeaveDoubt) {
    const TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    const auto refusal = [&](const std::string& text) {
        config.budgets_file = folder.write("budgets.txt", text);
        try {
            (void)build_budgets(config, 3);
        } catch (const Error& error) {
            expect_contains(error.what(), "budgets.txt");
            return std::string(error.what());
        }
        ADD_FAILURE() << "accepted: " << text;
        return std::string();
    };
    expect_contains(refusal("1\n2\n"), "2 budgets for 3 agents");
    expect_contains(refusal("1\n2\n3\n4\n"), "4 budgets for 3 agents");
    expect_contains(refusal("0 1\n2 3\n"), "2 budgets for 3 agents");
    expect_contains(refusal(""), "0 budgets for 3 agents");
    expect_contains(refusal("0 1\n1 2\n1 3\n2 4\n"), "agent 1 appears twice");
    expect_contains(refusal("0 1\n1 2\n3 3\n"), ":3");
    expect_contains(refusal("0 1\n1 2\n-1 3\n"), ":3");
    expect_contains(refusal("0 1\n1 2\n3\n"), "mixed");
    expect_contains(refusal("9\n0 1\n1 2\n2 3\n"), "mixed");
    expect_contains(refusal("0 1 2\n"), ":1");
    expect_contains(refusal("1\ntwo\n3\n"), "two");
    expect_contains(refusal("1\nnan\n3\n"), ":2");
    expect_contains(refusal("1\n-2\n3\n"), "-2");
    expect_contains(refusal("1\n0\n3\n"), ":2");
    config.budgets_file = folder.path("missing.txt");
    EXPECT_THROW((void)build_budgets(config, 3), DataError);
}

TEST(BuildExposures, FollowShardsBatchesAndParticipation) {
    PlanConfig config = config_of("ldp");
    config.clip_norm = 0.5;
    config.rounds = 103;
    config.batch_size = 10;
    const std::vector<Eigen::Index> records{100, 41, 10};
    for (const auto& exposure : build_exposures(config, 3, records)) {
        EXPECT_EQ(exposure.sensitivity, 2 * 0.5);
        EXPECT_EQ(exposure.temporal_sensitivity, 103);
    }
    config.adjacency = Adjacency::record;
    for (const auto& exposure : build_exposures(config, 3, records)) {
        EXPECT_DOUBLE_EQ(exposure.sensitivity, 2 * 0.5 / 10);
        EXPECT_EQ(exposure.temporal_sensitivity, 103);
        EXPECT_EQ(exposure.batch_size, 10);
    }
    config.participation = {4};
    const Eigen::Index batches[] = {25, 11, 3};  // ceil(N/4)
    for (const bool zero_out : {false, true}) {
        config.adjacency = zero_out ? Adjacency::record_zero_out : Adjacency::record;
        const auto exposures = build_exposures(config, 3, records);
        for (std::size_t u = 0; u < 3; ++u) {
            EXPECT_EQ(exposures[u].batch_size, batches[u]);
            EXPECT_DOUBLE_EQ(exposures[u].sensitivity,
                             (zero_out ? 1 : 2) * 0.5 / static_cast<double>(batches[u]));
            EXPECT_EQ(exposures[u].temporal_sensitivity, 26);  // ceil(103/4)
        }
    }
    // Without data only the batch size is known.
    config.participation = {1};
    for (const auto& exposure : build_exposures(config, 3, {})) EXPECT_EQ(exposure.batch_size, 10);
}

TEST(BuildExposures, RefusesBatchesAndCyclesThatDoNotFit) {
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.batch_size = 11;
    expect_contains(message_of<ConfigError>([&] {
                        (void)build_exposures(config, 3, {100, 41, 10});
                    }),
                    "batch-size: 11");
    config.participation = {11};
    EXPECT_THROW((void)build_exposures(config, 3, {100, 41, 10}), ConfigError);
    config.participation = {2};
    config.adjacency = Adjacency::agent;
    EXPECT_THROW((void)build_exposures(config, 3, {100, 41, 10}), ConfigError);
}

TEST(PlanNoise, MeetsEveryAgentsBudgetAndUsesItUp) {
    const Topography topography = random_topography(8);
    for (const auto& mechanism : mechanisms().records()) {
        if (!mechanism.needs_budget) continue;
        const Planned result = plan(config_of(mechanism.name), topography);
        const NoisePlan& noise = result.planned.design.plan;
        EXPECT_EQ(noise.mechanism, mechanism.name);
        EXPECT_TRUE(result.planned.solved);
        std::vector<int> everybody{0, 1, 2, 3, 4, 5, 6, 7};
        EXPECT_NO_THROW(verify_agents_protected(
            noise, everybody, result.exposures, result.budgets, noise.coalition_size));
        double largest = 0;
        for (const auto& guarantee :
             coalition_guarantees(noise, noise.coalition_size, result.exposures, 1e-5)) {
            EXPECT_LE(guarantee.epsilon, 10 * (1 + 1e-6)) << mechanism.name;
            largest = std::max(largest, guarantee.epsilon);
        }
        EXPECT_NEAR(largest, 10, 1e-5) << mechanism.name;
    }
}

TEST(PlanNoise, RanksTheMechanisms) {
    const Topography topography = random_topography(8);
    std::map<std::string, double> objective;
    for (const std::string name : {"ldp", "cdp", "decor", "corn"}) {
        const PlannedNoise planned = plan(config_of(name), topography).planned;
        objective[name] = planned.design.objective;
        EXPECT_DOUBLE_EQ(planned.ldp_objective,
                         plan(config_of("ldp"), topography).planned.design.objective);
        EXPECT_DOUBLE_EQ(planned.cdp_objective,
                         plan(config_of("cdp"), topography).planned.design.objective);
    }
    EXPECT_LT(objective["cdp"], objective["corn"]);
    EXPECT_LT(objective["corn"], objective["decor"]);
    EXPECT_LT(objective["decor"], objective["ldp"]);
}

TEST(PlanNoise, FollowsUnequalShardsAndBudgets) {
    const TemporaryFolder folder;
    const Topography topography = random_topography(4);
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.participation = {3};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    const std::vector<Eigen::Index> records{30, 60, 90, 300};
    for (const std::string name : {"ldp", "decor", "corn", "cdp"}) {
        config.mechanism = name;
        const Planned result = plan(config, topography, records);
        const auto reached =
            guarantees(result.planned.design.plan, {}, result.exposures, config.delta);
        for (std::size_t u = 0; u < 4; ++u) {
            const double target = std::ldexp(1.0, static_cast<int>(u));
            EXPECT_LE(reached[u].epsilon, target * (1 + 1e-6)) << name;
            // Private noise, and free covariance, spend every budget.
            if (name == "ldp" || name == "corn") {
                EXPECT_NEAR(reached[u].epsilon, target, 1e-4 * target) << name << ", agent " << u;
            }
            const double sensitivity = 2 * config.clip_norm / (static_cast<double>(records[u]) / 3);
            EXPECT_NEAR(result.planned.kappa(static_cast<Eigen::Index>(u)),
                        std::pow(gdp_mu(target, config.delta) / sensitivity, 2) / 34,
                        1e-6 * result.planned.kappa(static_cast<Eigen::Index>(u)));
        }
    }
}

TEST(PlanNoise, ReadsBackThePlanItWrote) {
    const TemporaryFolder folder;
    const Topography topography = random_topography(6);
    for (const auto& mechanism : mechanisms().records()) {
        PlanConfig config = config_of(mechanism.name);
        const Planned solved = plan(config, topography);
        config.plan_file =
            folder.write(mechanism.name + ".json", to_json(solved.planned.design.plan));
        config.mechanism = "corn";  // the file decides
        const Planned read = plan(config, topography);
        EXPECT_EQ(read.planned.design.plan.hash(), solved.planned.design.plan.hash());
        EXPECT_EQ(read.planned.design.plan.mechanism, mechanism.name);
        EXPECT_FALSE(read.planned.solved);
        if (mechanism.needs_budget && read.planned.design.plan.entry == NoiseEntry::gradient) {
            EXPECT_NEAR(read.planned.design.objective,
                        solved.planned.design.objective,
                        1e-6 * solved.planned.design.objective)
                << mechanism.name;
        }
        expect_contains(message_of<ConfigError>([&] { (void)plan(config, random_topography(7)); }),
                        "made for 6 agents");
    }
    PlanConfig config = config_of("corn");
    config.plan_file = folder.write("no.json", "{}");
    expect_contains(message_of<DataError>([&] { (void)plan(config, topography); }), "no.json");
    config.plan_file = folder.path("missing.json");
    EXPECT_THROW((void)plan(config, topography), DataError);
}

TEST(PlanReport, SaysTheSameAsThePlan) {
    const Topography topography = random_topography(5);
    for (const auto& mechanism : mechanisms().records()) {
        const PlanConfig config = config_of(mechanism.name);
        const Planned result = plan(config, topography);
        const Json json =
            Json::parse(plan_report_json(result.planned, config, result.exposures, result.budgets));
        const NoisePlan& noise = result.planned.design.plan;
        EXPECT_EQ(json["mechanism"], mechanism.name);
        EXPECT_EQ(json["agents"], 5);
        EXPECT_EQ(json["per_agent"].size(), 5u);
        EXPECT_EQ(json["plan_hash"], to_hex(noise.hash()));
        EXPECT_EQ(json["infinite"], !mechanism.needs_budget);
        const std::string text =
            plan_report_text(result.planned, config, result.exposures, result.budgets);
        expect_contains(text, mechanism.name);
        if (!mechanism.needs_budget) {
            for (const char* key : {"epsilon", "mu", "kappa", "epsilon_target"})
                EXPECT_TRUE(json[key].is_null()) << key;
            EXPECT_EQ(json["max_variance"], 0);
            expect_contains(text, "epsilon is infinite");
            continue;
        }
        EXPECT_NEAR(json["epsilon"].get<double>(), 10, 1e-5);
        EXPECT_EQ(json["epsilon_target"], 10);
        EXPECT_EQ(json["kappa"].get<double>(), result.planned.kappa.minCoeff());
        const bool on_gradients = noise.entry == NoiseEntry::gradient;
        EXPECT_EQ(json["objective"].is_null(), !on_gradients);
        EXPECT_EQ(json["independent_variance"].is_null(), !on_gradients);
        EXPECT_EQ(json["mu"].is_null(), mechanism.distribution == StreamDistribution::laplace);
        const Eigen::VectorXd variances = on_gradients ? spatial_covariance(noise).diagonal().eval()
                                                       : largest_message_variance(noise);
        const double tolerance = 1e-12 * std::max(1.0, variances.maxCoeff());
        for (std::size_t u = 0; u < 5; ++u) {
            EXPECT_EQ(json["per_agent"][u]["agent"], u);
            EXPECT_NEAR(json["per_agent"][u]["noise_std"].get<double>(),
                        std::sqrt(variances(static_cast<Eigen::Index>(u))),
                        tolerance);
        }
        EXPECT_NEAR(json["max_variance"].get<double>(), variances.maxCoeff(), tolerance);
        // Shared seeds protect against outsiders only, and the report does not hide it.
        if (mechanism.name == "corn" || mechanism.name == "cdp")
            expect_contains(text, "NOT protected");
    }
}

}  // namespace
}  // namespace sotto
