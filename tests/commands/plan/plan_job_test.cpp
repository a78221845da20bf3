#include "commands/plan/plan_job.hpp"

#include "run/run_fixtures.hpp"

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
