#include "options/plan_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

PlanConfig read(const OptionTexts& given) {
    return OptionSet<PlanConfig>().add(plan_options()).read(given);
}

std::optional<std::string> written(const PlanConfig& config, const std::string& name) {
    return find_option(OptionSet<PlanConfig>().add(plan_options()).written(config), name)->text;
}

TEST(BatchSize, IsANumberOfRecordsOrAll) {
    EXPECT_EQ(read({{"batch-size", "all"}}).batch_size, std::nullopt);
    EXPECT_EQ(read({{"batch-size", "7"}}).batch_size, 7);
    EXPECT_EQ(written(read({{"batch-size", "all"}}), "batch-size"), "all");
    EXPECT_EQ(written(PlanConfig{}, "batch-size"), "128");
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)read({{"batch-size", text}}); });
    };
    expect_contains(refusal("al"), "did you mean 'all'");
    expect_contains(refusal("0"), "--batch-size: 0 is not allowed (allowed: a whole number from 1");
}

TEST(TemporalFactor, KeepsItsRestartWhereItsKindIsRead) {
    const PlanConfig config = read({{"temporal", "banded:3"}, {"temporal-restart", "40"}});
    EXPECT_EQ(config.temporal.band, 3);
    EXPECT_EQ(config.temporal.restart, 40);
    EXPECT_EQ(written(config, "temporal"), "banded:3");
    EXPECT_EQ(written(config, "temporal-restart"), "40");
    EXPECT_EQ(written(PlanConfig{}, "temporal-restart"), std::nullopt);
}

TEST(StepSchedule, KeepsTheStepSizeThatIsGiven) {
    const PlanConfig config = read({{"step-size", "0.5"}, {"step-schedule", "inverse"}});
    EXPECT_EQ(config.steps.step_size, 0.5);
    EXPECT_EQ(config.steps.kind, StepSchedule::Kind::inverse);
    EXPECT_EQ(written(config, "step-size"), "0.5");
    EXPECT_EQ(written(config, "step-schedule"), "inverse");
}

TEST(MechanismName, IsOneThatThereIs) {
    EXPECT_EQ(read({{"mechanism", "corn"}}).mechanism, "corn");
    expect_contains(message_of<ConfigError>([] {
                        (void)read({{"mechanism", "cron"}});
                    }),
                    "did you mean 'corn'");
    expect_contains(message_of<ConfigError>([] {
                        (void)read({{"spatial-mechanism", "cron"}});
                    }),
                    "--spatial-mechanism");
}

TEST(PlanOptions, SayTheirDefaultsAsPeopleWriteThem) {
    for (const auto& [name, text] : OptionTexts{{"delta", "1e-5"},
                                                {"variance-cap", "1e4"},
                                                {"step-size", "0.05"},
                                                {"clip-norm", "0.1"},
                                                {"epsilon", "10"},
                                                {"utility", "horizon:200"},
                                                {"participation", "every"}})
        EXPECT_EQ(written(PlanConfig{}, name), text) << name;
    for (const char* name :
         {"noise-std", "coalition-size", "seed-groups", "budgets", "plan", "covariance"})
        EXPECT_EQ(written(PlanConfig{}, name), std::nullopt) << name;
}

TEST(ParticipationOption, MayLeaveTheCycleOpen) {
    const PlanConfig open = read({{"participation", "cyclic-poisson:auto"}});
    EXPECT_TRUE(open.choose_cycle);
    EXPECT_EQ(written(open, "participation"), "cyclic-poisson:auto");
    for (const char* text : {"every", "cyclic:4", "poisson", "cyclic-poisson:7"}) {
        const PlanConfig config = read({{"participation", text}});
        EXPECT_FALSE(config.choose_cycle);
        EXPECT_EQ(written(config, "participation"), text);
    }
    expect_contains(message_of<ConfigError>([] {
                        (void)read({{"participation", "cyclic-poison:4"}});
                    }),
                    "cyclic-poisson:b");
}

}  // namespace
}  // namespace sotto
