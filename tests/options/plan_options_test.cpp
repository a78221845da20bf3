#include "options/plan_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "planning/planning_fixtures.hpp"
#include "planning/settle.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

AskedPlan read(const OptionTexts& given) {
    return OptionSet<AskedPlan>().add(plan_options()).read(given);
}

std::optional<std::string> written(const AskedPlan& config, const std::string& name) {
    return find_option(OptionSet<AskedPlan>().add(plan_options()).written(config), name)->text;
}

TEST(BatchSize, IsANumberOfRecordsOrAll) {
    EXPECT_EQ(read({{"batch-size", "all"}}).batch_size, std::nullopt);
    EXPECT_EQ(read({{"batch-size", "7"}}).batch_size, 7);
    EXPECT_EQ(written(read({{"batch-size", "all"}}), "batch-size"), "all");
    EXPECT_EQ(written(AskedPlan{}, "batch-size"), "128");
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)read({{"batch-size", text}}); });
    };
    expect_contains(refusal("al"), "did you mean 'all'");
    expect_contains(refusal("0"), "--batch-size: 0 is not allowed (allowed: a whole number from 1");
}

TEST(TemporalFactor, KeepsItsRestartWhereItsKindIsRead) {
    const AskedPlan config = read({{"temporal", "banded:3"}, {"temporal-restart", "40"}});
    EXPECT_EQ(config.temporal.band, 3);
    EXPECT_EQ(config.temporal.restart, 40);
    EXPECT_EQ(written(config, "temporal"), "banded:3");
    EXPECT_EQ(written(config, "temporal-restart"), "40");
    EXPECT_EQ(written(AskedPlan{}, "temporal-restart"), std::nullopt);
}

TEST(StepSchedule, KeepsTheStepSizeThatIsGiven) {
    const AskedPlan config = read({{"step-size", "0.5"}, {"step-schedule", "inverse"}});
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
        EXPECT_EQ(written(AskedPlan{}, name), text) << name;
    for (const char* name :
         {"noise-std", "coalition-size", "seed-groups", "budgets", "plan", "covariance"})
        EXPECT_EQ(written(AskedPlan{}, name), std::nullopt) << name;
}

TEST(ParticipationOption, MayLeaveTheCycleOpen) {
    const AskedPlan open = read({{"participation", "cyclic-poisson:auto"}});
    EXPECT_TRUE(open.open.cycle);
    EXPECT_EQ(written(open, "participation"), "cyclic-poisson:auto");
    for (const char* text : {"every", "cyclic:4", "poisson", "cyclic-poisson:7"}) {
        const AskedPlan config = read({{"participation", text}});
        EXPECT_FALSE(config.open.cycle);
        EXPECT_EQ(written(config, "participation"), text);
    }
    expect_contains(message_of<ConfigError>([] {
                        (void)read({{"participation", "cyclic-poison:4"}});
                    }),
                    "cyclic-poisson:b");
}

AskedPlan read_plan(const OptionTexts& given) {
    return OptionSet<AskedPlan>().add(plan_options()).read(given);
}

TEST(CovarianceFile, ChoosesItsMechanism) {
    EXPECT_EQ(read_plan({{"covariance", "R.npy"}}).mechanism, "covariance");
    for (const char* mechanism : {"corn", "pairs"})
        EXPECT_EQ(read_plan({{"covariance", "R.npy"}, {"mechanism", mechanism}}).mechanism,
                  mechanism)
            << "require_covariance_file refuses it";
    EXPECT_EQ(read_plan({{"covariance", "R.npy"}}).covariance_file, "R.npy");
    EXPECT_EQ(covariance_options().size(), 1U);
}

TEST(DefaultClip, IsOfARecordsGradientWhereRecordsAreProtected) {
    for (const char* adjacency : {"record", "record-zero-out", "record-add-remove"}) {
        const TrainConfig config = read_train_config({{"adjacency", adjacency}, {"tune", "off"}});
        EXPECT_EQ(config.plan.clip_norm, 1) << adjacency;
        EXPECT_EQ(config.plan.steps.step_size, 0.5) << adjacency;
        EXPECT_NE(as_ini(config).find("\nclip-norm = 1\n"), std::string::npos) << adjacency;
        EXPECT_NE(as_ini(config).find("\nstep-size = 0.5\n"), std::string::npos) << adjacency;
    }
}

TEST(DefaultTuning, IsForRecords) {
    for (const char* adjacency : {"record", "record-zero-out", "record-add-remove"}) {
        const TrainConfig config = read_train_config({{"adjacency", adjacency}});
        EXPECT_TRUE(config.plan.open.rounds && config.plan.open.batch_size &&
                    config.plan.open.clip_norm && config.plan.open.step_size)
            << adjacency;
        EXPECT_NE(as_ini(config).find("\nclip-norm = auto\n"), std::string::npos) << adjacency;
    }
    EXPECT_FALSE(read_train_config({{"adjacency", "agent"}}).plan.open.tuned());
    const TrainConfig by_hand = read_train_config(
        {{"adjacency", "record"}, {"clip-norm", "2"}, {"step-size", "3"}, {"rounds", "4"}});
    EXPECT_FALSE(by_hand.plan.open.measured());
    EXPECT_TRUE(by_hand.plan.open.batch_size);
    EXPECT_EQ(by_hand.plan.clip_norm, 2);
}

TEST(DefaultClip, IsWhatItWasWhereAgentsAre) {
    EXPECT_TRUE(with_default_clip({}).empty());
    for (const char* adjacency : {"agent", "agent-zero-out"}) {
        const TrainConfig config = read_train_config({{"adjacency", adjacency}});
        EXPECT_EQ(config.plan.clip_norm, AskedPlan{}.clip_norm) << adjacency;
        EXPECT_EQ(config.plan.steps.step_size, AskedPlan{}.steps.step_size) << adjacency;
    }
}

TEST(DefaultClip, LeavesWhatIsAskedFor) {
    const OptionTexts given{
        {"adjacency", "record"}, {"clip-norm", "0.3"}, {"step-size", "0.7"}, {"task", "logistic"}};
    EXPECT_EQ(with_default_clip(given), given);
    const TrainConfig averages = read_train_config(
        {{"adjacency", "record"}, {"task", "averaging"}, {"participation", "every"}});
    EXPECT_EQ(averages.plan.steps.step_size, 1) << "a task's own default comes first";
}

TEST(DefaultClip, IsWhereLearningItStarts) {
    const TrainConfig config =
        read_train_config({{"adjacency", "record-add-remove"}, {"clip-norm", "learnt"}});
    EXPECT_TRUE(config.plan.learn_clip);
    EXPECT_EQ(config.plan.clip_norm, 1);
}

/// As on the first page, with the data that need no file.
TEST(DefaultClip, LearnsMoreThanAConstant) {
    const test::TemporaryFolder folder;
    TrainConfig config = read_train_config({{"agents", "20"},
                                            {"epsilon", "1"},
                                            {"adjacency", "record-add-remove"},
                                            {"noise-seed", "3"},
                                            {"eval-every", "1000"},
                                            {"run-directory", folder.path("run")}});
    config.threads = 2;
    const auto network = make_memory_network(20, 2);
    TrainingListener silent;
    const TrainResult result = run_training(config, *network, silent, [] { return false; });
    EXPECT_GT(result.evaluation.test_accuracy_mean_model,
              result.baselines.constant_accuracy + 0.05);
    EXPECT_LT(result.evaluation.test_loss_mean_model, result.baselines.constant_loss - 0.08);
    EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

std::string participation(const OptionTexts& given) {
    return name_of(read_train_config(given).plan.participation);
}

TEST(DefaultParticipation, SamplesInSecretWhereRecordsComeAndGo) {
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}}), "poisson");
    EXPECT_EQ(participation({{"adjacency", "record-zero-out"}, {"mechanism", "cdp"}}), "poisson");
    for (const char* mechanism : {"ldp", "decor", "corn", "corn-hbc", "pairs", "muffliato"})
        EXPECT_EQ(participation({{"adjacency", "record-zero-out"}, {"mechanism", mechanism}}),
                  "poisson")
            << mechanism;
}

TEST(DefaultParticipation, CountsEveryRoundElsewhere) {
    EXPECT_EQ(participation({}), "every");
    EXPECT_EQ(participation({{"adjacency", "record"}}), "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"batch-size", "all"}}), "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"mechanism", "anti-pgd"}}),
              "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"calibration", "rdp"}}), "every");
}

TEST(DefaultParticipation, SamplesAgentsWhereTheirProbabilityIsGiven) {
    EXPECT_EQ(participation({{"client-probability", "0.1"}}), "poisson");
    EXPECT_EQ(participation({{"client-probability", "0.1"}, {"participation", "every"}}), "every");
}

TEST(DefaultParticipation, OfAPlanWithoutDataNeedsAProbability) {
    const OptionTexts records{{"adjacency", "record-add-remove"}};
    EXPECT_EQ(with_participation_without_data(records), records);
    for (const char* option : {"sampling-probability", "client-probability"}) {
        OptionTexts given = records;
        given[option] = "0.1";
        EXPECT_EQ(with_participation_without_data(given).at("participation"), "poisson") << option;
    }
}

TEST(DefaultParticipation, LeavesWhatIsAskedFor) {
    for (const char* asked : {"every", "cyclic:4", "poisson"})
        EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"participation", asked}}),
                  asked);
}

/// As settled by one process; nothing where L follows from the rest.
std::optional<int> settled(const OptionTexts& given) {
    const TrainConfig config = read_train_config(given);
    const Topography topography = test::random_topography(3);
    return settle(config.plan,
                  {.topography = topography,
                   .rounds_alone = config.asks_about_rounds_alone(),
                   .secure_sum = config.secure_sum})
        .plan.final_gossip;
}

TEST(DefaultFinalGossip, IsThereWhereNobodySaysOtherwise) {
    EXPECT_FALSE(settled({}));
    EXPECT_FALSE(settled({{"secure-sum", "off"}}));
    EXPECT_FALSE(settled({{"final-gossip", "auto"}, {"secure-sum", "on"}}));
    EXPECT_EQ(settled({{"final-gossip", "0"}}), 0);
    EXPECT_EQ(settled({{"final-gossip", "3"}, {"view", "node:0"}}), 3);
}

TEST(DefaultFinalGossip, IsNotThereWhereItWouldMakeFiguresLessExact) {
    for (const auto& [option, text] : OptionTexts{{"secure-sum", "on"}, {"view", "node:0"}})
        EXPECT_EQ(settled({{option, text}}), 0) << option;
    EXPECT_FALSE(settled({{"record-view", "1"}})) << "recording changes nothing";
}

TEST(DefaultFinalGossip, IsOneForEveryCommandThatPlans) {
    for (const OptionTexts& given :
         {OptionTexts{}, {{"final-gossip", "auto"}}, {{"final-gossip", "4"}}}) {
        EXPECT_EQ(leaves_final_gossip_open(given, false), !given.contains("final-gossip"));
        EXPECT_FALSE(leaves_final_gossip_open(given, true));
    }
}

TEST(DefaultFinalGossip, IsInTheConfigurationThatARunLeaves) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 6, "pairs", 30);
    config.plan.open.final_gossip = true;
    config.run_directory = folder.path("run");
    const TrainResult result = test::train(config);
    EXPECT_GT(result.final_gossip, 0);
    expect_contains(read_file(folder.path("run/config.ini")), "final-gossip = auto\n");
    EXPECT_LT(result.evaluation.consensus_distance, result.last.consensus_distance);
}

TEST(DefaultFinalGossip, IsNoOptionThatRanksCouldDisagreeOn) {
    // What rank 0 alone is asked for settles it for all.
    const std::string plain = agreement_lines(read_train_config({}));
    EXPECT_EQ(agreement_lines(read_train_config({{"view", "node:0"}})), plain);
    EXPECT_NE(agreement_lines(read_train_config({{"final-gossip", "0"}})), plain);
}

}  // namespace
}  // namespace sotto
