#include "training/survey.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "account/account_subject.hpp"
#include "agent/recording/recorded_view.hpp"
#include "learn/handed_objective.hpp"
#include "learn/norm_histogram.hpp"
#include "options/train_options.hpp"
#include "planning/budgets.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "tasks/record_task.hpp"
#include "training/resume_fixtures.hpp"
#include "training/run_subject.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Fate;
using test::Json;
using test::message_of;
using test::read_json;

namespace fs = std::filesystem;

class Surveys : public ::testing::Test {
  protected:
    TrainConfig tuned(const std::string& name, const OptionTexts& more = {}) const {
        OptionTexts texts{{"agents", "6"},
                          {"data", "synthetic"},
                          {"partition", "iid"},
                          {"epsilon", "1"},
                          {"adjacency", "record-add-remove"},
                          {"graph-seed", "1"},
                          {"eval-every", "1000"},
                          {"run-directory", folder.path(name)}};
        for (const auto& [option, text] : more) texts[option] = text;
        return read_train_config(texts);
    }
    Json file(const std::string& name, const std::string& which) const {
        return read_json(fs::path(folder.path(name)) / which);
    }
    std::string config_of(const std::string& name) const {
        return read_file((fs::path(folder.path(name)) / "config.ini").string());
    }
    test::TemporaryFolder folder;
};

TEST_F(Surveys, MakeATrainingWithoutKnobsLearnWithinItsBudget) {
    const TrainResult result = test::run(tuned("run"));
    ASSERT_TRUE(result.tuned);
    EXPECT_GT(result.evaluation.test_accuracy, 0.8);
    EXPECT_LE(result.epsilon, 1);
    EXPECT_GT(result.epsilon, 0.99);
    const TunedRun& chosen = *result.tuned;
    EXPECT_EQ(chosen.mu_share, 0.02);
    EXPECT_NEAR(chosen.clip_norm, chosen.norm / 2, 1e-3 * chosen.norm);
    EXPECT_EQ(result.rounds, chosen.rounds);
    // The survey is the first phase; alone it spends 2% of mu^2.
    const Json ledger = file("run", "ledger.json");
    ASSERT_EQ(ledger.at("phases").size(), 2U);
    EXPECT_EQ(ledger.at("phases")[0].at("rounds"), 1);
    EXPECT_EQ(ledger.at("phases")[1].at("rounds"), result.rounds);
    // What is found is in the configuration, so that no later start measures again.
    for (const std::string option : {"clip-norm", "step-size", "rounds", "batch-size"})
        EXPECT_EQ(config_of("run").find(option + " = auto"), std::string::npos) << option;
    expect_contains(config_of("run"), "step-schedule = linear\n");
}

TEST_F(Surveys, FollowTheChoiceOfExchanges) {
    const OptionTexts of_ring{{"topology", "ring"}, {"rounds", "3"}};
    const auto chosen = [&](const std::string& name, OptionTexts more) {
        more.insert(of_ring.begin(), of_ring.end());
        (void)test::run(tuned(name, more));
        return config_of(name);
    };
    // Messages that fit into a packet stay as they are.
    const std::string few = chosen("few", {});
    expect_contains(few, "precision = float64\n");
    expect_contains(few, "gossip = chebyshev\n");
    EXPECT_EQ(few.find("gossip-steps = 1\n"), std::string::npos);
    const OptionTexts many_values{{"task", "mlp"}, {"hidden", "64"}};
    const std::string many = chosen("many", many_values);
    expect_contains(many, "precision = nibble\n");
    expect_contains(many, "gossip = chebyshev\n");
    expect_contains(many, "variance-cap = 10\n");
    OptionTexts given = many_values;
    given.merge(OptionTexts{{"gossip-steps", "1"}, {"precision", "float64"}});
    const std::string said = chosen("said", given);
    for (const char* line : {"precision = float64\n", "gossip-steps = 1\n", "gossip = plain\n"})
        expect_contains(said, line);
    OptionTexts untuned = many_values;
    untuned.merge(OptionTexts{{"tune", "off"}, {"batch-size", "8"}});
    const std::string usual = chosen("usual", untuned);
    for (const char* line : {"precision = float64\n", "gossip-steps = 1\n", "gossip = plain\n"})
        expect_contains(usual, line);
}

TEST_F(Surveys, AreInAccountsOfTheirRunBesideItsTraining) {
    const TrainConfig config = tuned("run");
    const TrainResult result = test::run(config);
    const auto subject = account_subject_of(read_recorded_run(folder.path("run"), config));
    ASSERT_EQ(subject->surveys.size(), 1U);
    EXPECT_EQ(subject->process.phases.size(), 1U);
    EXPECT_LT(subject->exposures.front().sensitivity, 0.1 * result.tuned->clip_norm);
    EXPECT_LT(subject->exposures.front().sampling_probability, 1);
    for (const std::vector<int>& observers : {std::vector<int>{}, std::vector<int>{1}}) {
        const Eigen::VectorXd precision = observed_precision(subject->plan, {observers});
        const Exposure& exposure = subject->exposures[0];
        const double squared = precision(0) * exposure.sensitivity_squared_over_rounds;
        const double whole = guarantee_of_target(*subject, observers, 0, squared).epsilon;
        EXPECT_LE(whole, result.epsilon * (1 + 1e-6));
        EXPECT_GT(whole, guarantee_of(subject->plan, exposure, squared, subject->delta).epsilon);
        EXPECT_GT(whole, 0.5);
    }
}

TEST_F(Surveys, SpendTheirShareOfTheBudget) {
    const TrainConfig config = tuned("run", {{"participation", "every"}, {"rounds", "20"}});
    (void)test::run(config);
    const double mu = gdp_mu(1, config.plan.delta);
    const Json account = file("run", "ledger.json");
    EXPECT_NEAR(account.at("headline").at("mu").get<double>(), mu, 1e-6 * mu);
}

TEST_F(Surveys, CountEveryRecordOnceUnderNoise) {
    const TrainConfig config =
        tuned("run", {{"record-view", "0,1,2,3,4,5"}, {"rounds", "3"}, {"link-encryption", "off"}});
    (void)test::run(config);
    const Json history = file("run", "history.json");
    double squares = 0, expected = 0;
    for (int agent = 0; agent < test::agents; ++agent) {
        const RecordedView view = read_recorded_view(fs::path(folder.path("run")) / "views-norms" /
                                                     std::to_string(agent) / "view.bin");
        ASSERT_GE(view.records.size(), 1U);
        const RecordedRound& round = view.records.front();
        ASSERT_EQ(round.gradient.size(), norm_bins);
        EXPECT_EQ(round.message.col(0), -(round.gradient + round.noise.col(0)));
        for (const double count : Eigen::VectorXd(round.gradient)) {
            EXPECT_GE(count, 0);
            EXPECT_EQ(count, std::round(count));
        }
        EXPECT_GT(round.gradient.sum(), 1000);
        squares += round.noise.squaredNorm();
        expected += norm_bins;
    }
    const double deviation = std::sqrt(squares / expected);
    // One count is hidden with 2% of mu^2; pairs have several times as much noise each.
    EXPECT_GT(deviation, 1 / (std::sqrt(0.02) * gdp_mu(1, config.plan.delta)));
}

TEST_F(Surveys, AreNotRepeatedWhenARunGoesOn) {
    Fate fate;
    fate.stop_after = 5;
    const TrainConfig config = tuned("run", {{"rounds", "400"}});
    ASSERT_TRUE(test::run(config, fate).interrupted);
    const std::string found = config_of("run");
    const TrainResult rest =
        test::run(test::resumed(train_config_of({found, "config.ini"}), folder.path("run")));
    EXPECT_FALSE(rest.tuned);
    EXPECT_EQ(rest.rounds, 400);
    EXPECT_LE(rest.epsilon, 1);
    const Json phases = file("run", "ledger.json").at("phases");
    ASSERT_EQ(phases.size(), 3U);  // without identities the keys are new
    EXPECT_EQ(phases[0].at("rounds"), 1);
}

/// Gradients that a program computes: the first call dies if asked to.
LocalTask handed(Network& network, bool dies) {
    auto objective = std::make_unique<HandedObjective>(3, 5000, 64);
    objective->functions().record_gradients =
        [dies, values = Eigen::MatrixXd()](
            const auto&, std::span<const Eigen::Index> rows) mutable -> HandedGradients {
        if (dies) throw test::Killed();
        values = Eigen::MatrixXd::Constant(3, std::ssize(rows), 0.5);
        return Eigen::Map<const Eigen::MatrixXd>(values.data(), 3, values.cols());
    };
    HandedInputs inputs{.objectives = {}, .initial = {}, .description = "handed"};
    inputs.objectives.push_back(std::move(objective));
    return make_handed_task(std::move(inputs), {}, network);
}

TEST_F(Surveys, ThatMayHaveBeenSentCountWhenTheyAreRepeated) {
    const TrainConfig config =
        tuned("run", {{"agents", "1"}, {"mechanism", "ldp"}, {"tune", "auto"}, {"rounds", "30"}});
    const auto network = make_memory_network(1, 1);
    Fate fate;
    const auto never = [] { return false; };
    EXPECT_THROW(
        (void)run_training(config, *network, fate, never, [&] { return handed(*network, true); }),
        test::Killed);
    expect_contains(config_of("run"), "clip-norm = auto\n");
    const auto again = make_memory_network(1, 1);
    const TrainConfig resumed =
        test::resumed(train_config_of({config_of("run"), "config.ini"}), folder.path("run"));
    const TrainResult result =
        run_training(resumed, *again, fate, never, [&] { return handed(*again, false); });
    ASSERT_TRUE(result.tuned);
    EXPECT_NEAR(result.tuned->norm, 0.5 * std::sqrt(3.0), 0.2);
    EXPECT_LE(result.epsilon, 1);
    const Json phases = file("run", "ledger.json").at("phases");
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_EQ(phases[0].at("rounds"), 1);
    EXPECT_EQ(phases[1].at("rounds"), 1);
    EXPECT_EQ(phases[2].at("rounds"), 30);
}

TEST_F(Surveys, AreRefusedWhereNoRuleIsKnown) {
    const auto refusal = [&](const OptionTexts& more) {
        return message_of<ConfigError>([&] { (void)test::run(tuned("run", more)); });
    };
    expect_contains(refusal({{"adjacency", "agent"}, {"tune", "auto"}}),
                    "tune: auto is not possible with --adjacency agent");
    expect_contains(refusal({{"noise-std", "3"}, {"epsilon", "10"}, {"clip-norm", "auto"}}),
                    "tune: auto is not possible with --noise-std");
    expect_contains(
        refusal({{"mixing-schedule", "one-peer"}, {"topology", "exponential"}, {"tune", "auto"}}),
        "tune: auto is not possible with --mixing-schedule");
    EXPECT_THROW((void)tuned("run", {{"tune", "off"}, {"clip-norm", "auto"}}), ConfigError);
}

TEST_F(Surveys, AreLeftOutByDefaultWhereTheyAreNotPossible) {
    const TrainResult result =
        test::run(tuned("run", {{"secure-sum", "on"}, {"topology", "complete"}, {"rounds", "5"}}));
    EXPECT_FALSE(result.tuned);
    EXPECT_EQ(file("run", "ledger.json").at("phases").size(), 1U);
    expect_contains(config_of("run"), "clip-norm = 1\n");
    expect_contains(config_of("run"), "batch-size = 128\n");
}

TEST_F(Surveys, AreLeftOutForFewRecords) {
    const std::string data = folder.write("few.txt", test::records_with_own_feature(60));
    const TrainResult result =
        test::run(tuned("run", {{"data", data}, {"epsilon", "0.1"}, {"tune", "auto"}}));
    EXPECT_EQ(file("run", "ledger.json").at("phases").size(), 1U);
    EXPECT_LE(result.epsilon, 0.1);
    // Classes are learnt with the steps of usual gradients.
    ASSERT_TRUE(result.tuned);
    EXPECT_EQ(result.tuned->mu_share, 0);
    EXPECT_TRUE(std::isnan(result.tuned->norm));
    EXPECT_EQ(result.tuned->clip_norm, 1);
    EXPECT_EQ(result.rounds, 200);
    const TrainResult off = test::run(
        tuned("off", {{"data", data}, {"epsilon", "0.1"}, {"tune", "off"}, {"batch-size", "0.2"}}));
    EXPECT_FALSE(off.tuned);
    EXPECT_LT(result.evaluation.test_loss, off.evaluation.test_loss);
    // A number to predict has errors of any size.
    std::string numbers = "size,price\n";
    for (int i = 0; i < 120; ++i) numbers += fmt::format("{},{}\n", i % 10, i + 0.5);
    const OptionTexts values{{"data", folder.write("few.csv", numbers)},
                             {"label", "price"},
                             {"bounds", "size=0:10,price=0:120"},
                             {"task", "mlp"},
                             {"epsilon", "0.1"},
                             {"rounds", "5"}};
    EXPECT_FALSE(test::run(tuned("values", values)).tuned);
    OptionTexts asked = values;
    asked["tune"] = "auto";
    expect_contains(message_of<ConfigError>([&] { (void)test::run(tuned("asked", asked)); }),
                    "tune: auto is not possible with so few records");
}

TEST_F(Surveys, CountRecordsAlikeWhereAgentsDifferInSize) {
    const TrainResult result =
        test::run(tuned("run", {{"partition", "dirichlet:0.3"}, {"seed", "1"}, {"rounds", "20"}}));
    ASSERT_TRUE(result.tuned);
    EXPECT_LE(result.epsilon, 1);
    const auto spread_of = [&](const std::string& name) {
        const std::string path = (fs::path(folder.path("run")) / name).string();
        const Eigen::VectorXd precision =
            coalition_precision(plan_from_json(read_file(path), path), 0);
        return precision.maxCoeff() / precision.minCoeff();
    };
    EXPECT_NEAR(spread_of("norms.json"), 1, 1e-9);
    EXPECT_GT(spread_of("plan.json"), 3);
}

TEST_F(Surveys, LearnTheScalingOfColumns) {
    // The second column decides, in a small part of what its bounds allow.
    std::string text = "a,b,y\n";
    for (int i = 0; i < 6000; ++i)
        text += std::to_string(i % 97) + "," + std::to_string(500 + 20 * (i % 20)) + "," +
                (i % 20 < 10 ? "no" : "yes") + "\n";
    const OptionTexts table{{"data", folder.write("table.csv", text)},
                            {"label", "y"},
                            {"bounds", "a=0:100,b=0:2000"},
                            {"epsilon", "4"}};
    OptionTexts learnt = table;
    learnt["standardise"] = "private";
    const TrainResult by_bounds = test::run(tuned("bounds", table));
    const TrainResult by_moments = test::run(tuned("moments", learnt));
    EXPECT_LT(by_moments.evaluation.test_loss, 0.7 * by_bounds.evaluation.test_loss);
    EXPECT_LE(by_moments.epsilon, 4);
    const Json phases = file("moments", "ledger.json").at("phases");
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_EQ(phases[0].at("rounds"), 1);
    EXPECT_EQ(phases[1].at("rounds"), 1);
    const Json learnt_scales = file("moments", "history.json").at("scaling").at("features");
    for (int agent = 0; agent < test::agents; ++agent) {
        const Json inputs =
            file("moments", "agents/" + std::to_string(agent) + "/model.json").at("inputs");
        for (std::size_t k = 0; k < 2; ++k)
            for (const char* name : {"offset", "scale"})
                EXPECT_EQ(inputs.at(k).at(name), learnt_scales.at(k).at(name)) << agent;
    }
    EXPECT_NE(file("bounds", "agents/0/model.json").at("inputs").at(1).at("scale"),
              learnt_scales.at(1).at("scale"));
    EXPECT_EQ(file("bounds", "ledger.json").at("phases").size(), 2U);
}

}  // namespace
}  // namespace sotto
