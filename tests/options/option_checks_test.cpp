#include "options/option_checks.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(NoiseOfAGivenDeviation, LeavesNoRoomForABudget) {
    PlanConfig config;
    config.epsilon = 3;
    require_one_source_of_noise(config);
    config.noise_std = 1;
    expect_contains(message_of<ConfigError>([&] { require_one_source_of_noise(config); }),
                    "--noise-std: --epsilon is given too");
    config.epsilon = PlanConfig{}.epsilon;
    require_one_source_of_noise(config);
    config.budgets_file = "budgets";
    expect_contains(message_of<ConfigError>([&] { require_one_source_of_noise(config); }),
                    "--noise-std: --budgets is given too");
}

TEST(CovarianceOfOnesOwn, IsThereWhereTheMechanismTakesOne) {
    PlanConfig config;
    require_covariance_file(config);
    config.covariance_file = "R.npy";
    expect_contains(message_of<ConfigError>([&] { require_covariance_file(config); }),
                    "--covariance: not possible with mechanism pairs (allowed: covariance)");
    config.mechanism = "covariance";
    require_covariance_file(config);
    config.covariance_file.reset();
    expect_contains(message_of<ConfigError>([&] { require_covariance_file(config); }),
                    "--mechanism: covariance takes --covariance FILE.npy too");
}

TEST(RosterAndIdentity, AreNeededTogether) {
    TrainConfig config;
    require_roster_with_identity(config);
    config.trust = TrustConfig{"roster", ""};
    expect_contains(message_of<ConfigError>([&] { require_roster_with_identity(config); }),
                    "--roster: --identity is needed too");
    config.trust = TrustConfig{"", "identity"};
    expect_contains(message_of<ConfigError>([&] { require_roster_with_identity(config); }),
                    "--identity: --roster is needed too");
    config.trust = TrustConfig{"roster", "identity"};
    require_roster_with_identity(config);
}

TEST(AgentsThatLeave, LeaveARunThatIsTakenUp) {
    TrainConfig config;
    require_run_to_take_up(config);
    config.resume = ResumeConfig{"", {1}};
    expect_contains(message_of<ConfigError>([&] { require_run_to_take_up(config); }),
                    "--without: --resume DIR is needed too");
    config.resume->directory = "runs/a";
    require_run_to_take_up(config);
}

TEST(RunsThatEnd, AreTakenUpByAll) {
    TrainConfig config;
    config.resume = ResumeConfig{.directory = "", .without = {}, .finish = true};
    expect_contains(message_of<ConfigError>([&] { require_run_to_take_up(config); }),
                    "--finish: --resume DIR is needed too");
    config.resume->directory = "runs/a";
    require_run_to_take_up(config);
    config.resume->without = {1};
    expect_contains(message_of<ConfigError>([&] { require_run_to_take_up(config); }),
                    "--finish: not possible with --without");
}

TEST(NetworksThatAreNotThere, AreForDryRuns) {
    TrainConfig config;
    require_dry_run_with_network(config);
    config.network = NetworkSpec{0.01, 1e8, std::nullopt, std::nullopt};
    expect_contains(message_of<ConfigError>([&] { require_dry_run_with_network(config); }),
                    "--network: --dry-run is needed too");
    config.dry_run = true;
    require_dry_run_with_network(config);
}

TEST(StallLimits, WarnBeforeTheyAbort) {
    const auto settled = [](double warn, double abort, bool given) {
        TrainConfig config;
        config.stall_warn_seconds = warn;
        config.stall_abort_seconds = abort;
        settle_stall_limits(config, given);
        return config.stall_warn_seconds;
    };
    EXPECT_EQ(settled(30, 300, false), 30);
    EXPECT_EQ(settled(30, 10, false), 5);
    EXPECT_EQ(settled(30, 0, true), 30);  // never aborts
    EXPECT_EQ(settled(9, 10, true), 9);
    expect_contains(message_of<ConfigError>([&] { (void)settled(9, 5, true); }),
                    "--stall-abort: 5 is not allowed (0, or more than --stall-warn, 9)");
}

TEST(PaddedRounds, AreThoseOfSampledBatches) {
    TrainConfig config;
    config.pad_rounds = true;
    EXPECT_THROW(require_sampling_with_padding(config), ConfigError);
    config.plan.participation.poisson = true;
    EXPECT_NO_THROW(require_sampling_with_padding(config));
    EXPECT_NO_THROW(require_sampling_with_padding(TrainConfig{}));
}

TEST(HowAClipIsLearnt, HasAMeaningWhereOneIs) {
    TrainConfig config;
    require_learnt_clip(config);
    config.clip.quantile = 0.5;
    expect_contains(message_of<ConfigError>([&] { require_learnt_clip(config); }),
                    "--clip-quantile: --clip-norm auto is needed too");
    config.plan.learn_clip = true;
    require_learnt_clip(config);
    config = {};
    config.clip.share = 0.1;
    expect_contains(message_of<ConfigError>([&] { require_learnt_clip(config); }), "--clip-share");
    config = {};
    config.clip.rate = 0.1;
    expect_contains(message_of<ConfigError>([&] { require_learnt_clip(config); }), "--clip-rate");
}

TEST(UnitsOfRecords, AreProtectedWhereRecordsAre) {
    TrainConfig config;
    config.task.table.unit = "patient";
    expect_contains(message_of<ConfigError>([&] { require_records_of_units(config); }),
                    "unit-column: patient");
    config.plan.adjacency = Adjacency::record;
    EXPECT_NO_THROW(require_records_of_units(config));
}

TEST(AllChecks, AreMade) {
    TrainConfig config;
    settle_train_config(config, false);
    TrainConfig noise = config, trust = config, resume = config, stall = config;
    noise.plan.noise_std = 1;
    noise.plan.epsilon = 3;
    trust.trust = TrustConfig{"roster", ""};
    resume.resume = ResumeConfig{"", {1}};
    stall.stall_abort_seconds = 1;
    TrainConfig clip = config;
    clip.clip.quantile = 0.5;
    TrainConfig units = config;
    units.task.table.unit = "patient";
    for (TrainConfig* bad : {&noise, &trust, &resume, &stall, &clip, &units})
        EXPECT_THROW(settle_train_config(*bad, true), ConfigError);
}

}  // namespace
}  // namespace sotto
