#include "account/plan_job.hpp"

#include <fmt/format.h>

#include <cmath>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"
#include "net/memory_network.hpp"
#include "options/train_options.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"
#include "training/training.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::Json;
using test::message_of;
using test::plan;
using test::Planned;
using test::random_topography;

OptionTexts ring_of_six(const std::string& mechanism) {
    return {{"topology", "ring"}, {"agents", "6"}, {"mechanism", mechanism}, {"rounds", "20"}};
}

TEST(PlanJob, SolvesWhatIsAskedFor) {
    const MadePlan made = make_plan(read_plan_options(ring_of_six("pairs")));
    EXPECT_EQ(made.plan().agents, 6);
    EXPECT_EQ(made.plan().mechanism, "pairs");
    EXPECT_EQ(made.built.topography.graph.edges().size(), 6U);
    EXPECT_EQ(made.counted.budgets.size(), 6U);
    EXPECT_FALSE(made.sums);
    const PrivacyRecord record = made.record();
    EXPECT_EQ(record.rounds, 20);
    EXPECT_EQ(record.now().plan.hash(), made.plan().hash());
    EXPECT_TRUE(record.authentication.empty());
}

/// Listens for the plan of a training.
struct PlanOfTraining final : TrainingListener {
    void on_start(const TrainingStart& start) override {
        hash = to_hex(start.planned.design.plan.hash());
        objective = start.planned.design.objective;
    }
    std::string hash;
    double objective = 0;
};

/// That `sotto plan` and `sotto train` make the same plan of the same options.
void expect_same_plan(OptionTexts given, const OptionTexts& more) {
    given.insert({{"agents", "6"}, {"topology", "ring"}, {"rounds", "40"}, {"batch-size", "1"}});
    for (const auto& [name, text] : more) given[name] = text;
    given.try_emplace("clip-norm", "1");  // a plan has no data that tell
    given.try_emplace("step-size", "0.5");
    std::string options;
    for (const auto& [name, text] : given) options += " --" + name + " " + text;
    const MadePlan made = make_plan(read_plan_options(given));
    TrainConfig config = read_train_config(given);
    config.dry_run = true;
    config.threads = 1;
    const auto network = make_memory_network(6, 1);
    PlanOfTraining trained;
    const TrainResult result = run_training(config, *network, trained, [] { return false; });
    EXPECT_EQ(trained.hash, to_hex(made.plan().hash())) << options;
    // Neither is the number of a plan that has none.
    if (std::isfinite(trained.objective) || std::isfinite(made.planned.design.objective)) {
        EXPECT_EQ(trained.objective, made.planned.design.objective) << options;
    }
    EXPECT_EQ(result.final_gossip, made.config.plan.final_gossip) << options;
}

TEST(PlanJob, MakesThePlanThatATrainingOfTheSameOptionsMakes) {
    const test::TemporaryFolder folder;
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(6, 6);
    covariance(1, 2) = covariance(2, 1) = -0.5;
    write_npy(folder.path("R.npy"), covariance);
    for (const Mechanism& mechanism : mechanisms().records()) {
        const bool over_rounds = mechanism.name == "mafalda" || mechanism.name == "space-time";
        OptionTexts options{{"mechanism", mechanism.name}};
        if (mechanism.takes_covariance) options["covariance"] = folder.path("R.npy");
        if (!over_rounds) expect_same_plan(options, {});
    }
    for (const std::string mechanism : {"pairs", "ldp", "corn"}) {
        for (const std::string utility : {"one-step", "horizon:20", "trajectory", "final"})
            expect_same_plan({{"mechanism", mechanism}, {"utility", utility}}, {});
        // Where data decide how large batches are, as with cyclic:b, plans differ and say so.
        for (const std::string adjacency : {"agent-zero-out", "record"})
            expect_same_plan({{"mechanism", mechanism}, {"adjacency", adjacency}},
                             {{"participation", "every"}});
    }
    for (const std::string mixing : {"metropolis", "max-degree", "lazy-metropolis", "optimised"})
        expect_same_plan({{"mixing", mixing}, {"utility", "final"}}, {});
    for (const std::string steps : {"1", "3", "auto"})
        for (const std::string average : {"none", "tail:0.5"})
            expect_same_plan({{"gossip-steps", steps}, {"average", average}},
                             {{"utility", "final"}});
    for (const std::string correction : {"auto", "none", "exact-diffusion", "tracking"})
        for (const std::string steps : {"1", "3"})
            expect_same_plan({{"correction", correction}, {"gossip-steps", steps}}, {});
    for (const std::string exchanges : {"0", "2", "auto"})
        expect_same_plan({{"final-gossip", exchanges}, {"utility", "final"}}, {});
    expect_same_plan({{"secure-sum", "on"}, {"topology", "complete"}}, {{"utility", "final"}});
}

/// Objective and laziness of a plan on a graph of tests/golden/covariance.json, as JSON has them.
Json corrected_plan(const Json& graph,
                    const std::string& correction,
                    const std::string& mechanism) {
    const test::TemporaryFolder folder;
    std::string edges;
    for (const Json& edge : graph["edges"])
        edges += fmt::format("{} {}\n", edge[0].get<int>(), edge[1].get<int>());
    const MadePlan made =
        make_plan(read_plan_options({{"graph", folder.write("graph.edges", edges)},
                                     {"correction", correction},
                                     {"mechanism", mechanism},
                                     {"utility", "horizon:50"}}));
    return Json::parse(plan_report_json(made.planned,
                                        made.config.plan,
                                        made.counted.exposures,
                                        made.counted.budgets,
                                        made.sums,
                                        made.bounds,
                                        made.missed,
                                        made.unrestricted));
}

TEST(PlanJob, HasTheGoldenObjectivesOfCorrections) {
    const Json graphs =
        Json::parse(read_file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json"))["graphs"];
    const Json rows =
        Json::parse(read_file(SOTTO_SOURCE_DIR "/tests/golden/corrections.json"))["rows"];
    for (const Json& row : rows)
        for (const Json& graph : graphs) {
            if (graph["name"] != row["graph"]) continue;
            for (const char* mechanism : {"ldp", "corn"}) {
                if (!row.contains(mechanism)) continue;
                const std::string correction = row["correction"];
                SCOPED_TRACE(row["graph"].get<std::string>() + ", " + correction);
                const Json found = corrected_plan(graph, correction, mechanism);
                const double golden = row[mechanism];
                EXPECT_NEAR(found["objective"].get<double>(), golden, 1e-6 * golden) << mechanism;
                EXPECT_EQ(found["correction"], correction);
                EXPECT_NEAR(found["laziness"].get<double>(), row["laziness"].get<double>(), 1e-9);
            }
        }
    // auto takes exact diffusion here.
    EXPECT_EQ(corrected_plan(graphs[1], "auto", "pairs")["correction"], "exact-diffusion");
    EXPECT_EQ(corrected_plan(graphs[1], "auto", "zip-dl")["correction"], "none");
}

TEST(PlanJob, TakesPoissonSamplingWhereAProbabilityIsGiven) {
    OptionTexts given = ring_of_six("pairs");
    given["adjacency"] = "record-zero-out";
    given["sampling-probability"] = "0.01";
    const MadePlan made = make_plan(read_plan_options(given));
    EXPECT_TRUE(made.config.plan.participation.poisson);
    EXPECT_NEAR(made.record().now().probability(3), 0.01, 1e-12);
}

TEST(PlanJob, SaysWhatSecureSumsHide) {
    OptionTexts given = ring_of_six("pairs");
    given["topology"] = "complete";
    given["secure-sum"] = "on";
    EXPECT_TRUE(make_plan(read_plan_options(given)).sums);
    given["mechanism"] = "cdp";
    expect_contains(message_of<ConfigError>([&] { (void)make_plan(read_plan_options(given)); }),
                    "secure-sum");
}

TEST(PlanJob, SaysWhatAnyCorrelationWouldLeaveAndRefusesTooManyRows) {
    OptionTexts given = ring_of_six("corn");
    EXPECT_FALSE(make_plan(read_plan_options(given)).unrestricted);
    given["unrestricted-bound"] = "on";
    EXPECT_GT(make_plan(read_plan_options(given)).unrestricted->ratio(), 1);
    given["rounds"] = "67";
    expect_contains(message_of<ConfigError>([&] { (void)make_plan(read_plan_options(given)); }),
                    "67 rounds of 6 agents");
}

Json json_of(const Planned& result, const PlanConfig& config) {
    return Json::parse(plan_report_json(result.planned, config, result.exposures, result.budgets));
}

TEST(PlanReportJson, SaysTheSameAsThePlan) {
    const Topography topography = random_topography(5);
    for (const auto& mechanism : mechanisms().records()) {
        const PlanConfig config = config_of(mechanism.name);
        const Planned result = plan(config, topography);
        const Json json = json_of(result, config);
        const NoisePlan& noise = result.planned.design.plan;
        EXPECT_EQ(json["mechanism"], mechanism.name);
        EXPECT_EQ(json["agents"], 5);
        EXPECT_EQ(json["per_agent"].size(), 5u);
        EXPECT_EQ(json["plan_hash"], to_hex(noise.hash()));
        EXPECT_EQ(json["infinite"], !mechanism.needs_budget);
        if (!mechanism.needs_budget) {
            for (const char* key : {"epsilon", "mu", "kappa", "epsilon_target"})
                EXPECT_TRUE(json[key].is_null()) << key;
            EXPECT_EQ(json["max_variance"], 0);
            continue;
        }
        EXPECT_NEAR(json["epsilon"].get<double>(), 10, 1e-5);
        EXPECT_EQ(json["epsilon_target"], 10);
        EXPECT_EQ(json["kappa"].get<double>(), result.planned.kappa.minCoeff());
        const bool on_gradients = noise.entry == NoiseEntry::gradient;
        EXPECT_EQ(json["objective"].is_null(), !on_gradients);
        EXPECT_EQ(json["independent_variance"].is_null(), !on_gradients);
        EXPECT_EQ(json["mu"].is_null(), noise.distribution() == StreamDistribution::laplace);
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
    }
}

TEST(PlanReportJson, GivesEveryAgentItsOwnFigures) {
    const test::TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.participation = {3};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    const Planned result = plan(config, random_topography(4), {30, 60, 90, 300});
    const Json json = json_of(result, config);
    EXPECT_EQ(json["adjacency"], "record");
    EXPECT_EQ(json["participation"], "cyclic:3");
    EXPECT_EQ(json["epsilon_target"], 1);
    EXPECT_EQ(json["sensitivity_squared"], 34);
    for (std::size_t u = 0; u < 4; ++u) {
        const Json& agent = json["per_agent"][u];
        EXPECT_EQ(agent["sensitivity"], result.exposures[u].sensitivity);
        EXPECT_EQ(agent["sensitivity_squared"], 34);
        EXPECT_EQ(agent["kappa"], result.planned.kappa(static_cast<Eigen::Index>(u)));
        EXPECT_NEAR(agent["epsilon"].get<double>(), 1 << u, 1e-4 * (1 << u));
    }
}

TEST(PlanReportJson, SaysWhatSecureSumsHideWhereTheyAreAskedFor) {
    const PlanConfig config = config_of("ldp");
    const Planned result = plan(config, random_topography(5));
    EXPECT_FALSE(json_of(result, config).contains("secure_sums"));
    SumHiding hiding;
    hiding.asked = 2;
    const Json json = Json::parse(plan_report_json(
        result.planned, config, result.exposures, result.budgets, std::optional(hiding)));
    EXPECT_EQ(json["secure_sums"]["withstand"], 2);
}

TEST(PlanReportJson, SaysHowTheCycleWasChosen) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("cycle_choice"));
    result.planned.choices.cycle = {{{1, 0, 8}, {2, 1, 6}, {4, 3, 10}}, 1};
    const Json choice = json_of(result, config)["cycle_choice"];
    EXPECT_EQ(choice["cycle"], 2);
    EXPECT_EQ(choice["reason"], text_of(result.planned.choices.cycle));
    ASSERT_EQ(choice["candidates"].size(), 3U);
    EXPECT_EQ(choice["candidates"][2]["band"], 3);
    EXPECT_EQ(choice["candidates"][2]["noise"], 10);
    EXPECT_EQ(choice["candidates"][1]["relative_noise"], 0.75);
}

TEST(PlanReportJson, SaysHowTheTemporalFactorWasChosen) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("temporal_choice"));
    result.planned.choices.temporal = {.candidates = {{{TemporalShape::Kind::banded, 7, 20}, 8},
                                                      {{TemporalShape::Kind::one_lag, 0, 20}, 6}},
                                       .chosen = 1,
                                       .reach = 19,
                                       .against_dense = "which is too much"};
    const Json choice = json_of(result, config)["temporal_choice"];
    EXPECT_EQ(choice["temporal"], "one-lag");
    EXPECT_EQ(choice["reason"],
              "one-lag, begun anew every 20 rounds: dense noise would keep 19 rounds, which is too "
              "much; banded:7, begun anew every 20 rounds leaves 1.33 times as much");
    ASSERT_EQ(choice["candidates"].size(), 2U);
    EXPECT_EQ(choice["candidates"][0]["temporal"], "banded:7");
    EXPECT_EQ(choice["candidates"][0]["noise"], 8);
}

TEST(PlanReportJson, SaysWhatAnyCorrelationWouldLeaveWhereItIsAskedFor) {
    PlanConfig config = config_of("space-time");
    config.rounds = 8;
    const Topography topography = random_topography(4);
    const Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("unrestricted"));
    const UnrestrictedNoise noise =
        unrestricted_noise(config, topography, result.planned.design.plan, result.planned.kappa);
    const Json json = Json::parse(plan_report_json(
        result.planned, config, result.exposures, result.budgets, {}, {}, {}, noise));
    EXPECT_EQ(json["unrestricted"]["plan"], noise.plan);
    EXPECT_EQ(json["unrestricted"]["any"]["value"], noise.any.value);
    EXPECT_EQ(json["unrestricted"]["any"]["lower_bound"], noise.any.lower_bound);
    EXPECT_EQ(json["unrestricted"]["any"]["ratio"], noise.ratio());
    EXPECT_EQ(json["unrestricted"]["equal_columns"]["value"], noise.equal.value);
}

}  // namespace
}  // namespace sotto
