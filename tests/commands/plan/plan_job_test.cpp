#include "commands/plan/plan_job.hpp"

#include <cmath>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"
#include "net/memory_network.hpp"
#include "options/train_options.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/design/mechanism.hpp"
#include "training/training.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

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
    for (const std::string exchanges : {"0", "2", "auto"})
        expect_same_plan({{"final-gossip", exchanges}, {"utility", "final"}}, {});
    expect_same_plan({{"secure-sum", "on"}, {"topology", "complete"}}, {{"utility", "final"}});
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

}  // namespace
}  // namespace sotto
