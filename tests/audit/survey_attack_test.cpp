#include "audit/survey_attack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "agent/recording/recorded_view.hpp"
#include "audit/audit_options.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/temporary_folder.hpp"
#include "options/train_options.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Eigen::VectorXd;
using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

constexpr int surveyed_agents = 5;
constexpr int rows_of_each = 300;  // of which 240 are trained on

std::string survey_table() {
    std::string text = "person,age,dose,sick\n";
    for (int i = 0; i < surveyed_agents * rows_of_each; ++i)
        text += fmt::format("{},{},{},{}\n",
                            i / 2,
                            20 + i * 37 % 60,
                            i * 53 % 100,
                            i * 37 % 60 > 30 ? "yes" : "no");
    return text;
}

/// A training without knobs whose scaling and norms are learnt, ended after its paid rounds.
class SurveyedRun {
  public:
    /// @param recorded agents.
    explicit SurveyedRun(const std::string& recorded, const OptionTexts& more = {}) {
        OptionTexts options{{"agents", std::to_string(surveyed_agents)},
                            {"topology", "ring"},
                            {"data", folder_.write("table.csv", survey_table())},
                            {"label", "sick"},
                            {"ignore", "person"},
                            {"task", "logistic"},
                            {"test-fraction", "0.2"},
                            {"partition", "iid"},
                            {"adjacency", "record-add-remove"},
                            {"standardise", "private"},
                            {"bounds", "age=0:100,dose=0:100"},
                            {"noise-seed", "3"},
                            {"threads", "1"},
                            {"run-directory", directory().string()}};
        for (const auto& [option, text] : more) options[option] = text;
        if (!recorded.empty()) options["record-view"] = recorded;
        test::Watcher watcher;
        (void)test::train(read_train_config(options), watcher, [] { return true; });
    }
    [[nodiscard]] fs::path directory() const { return folder_.path("run"); }

  private:
    TemporaryFolder folder_;
};

const SurveyedRun& recorded_by_all() {
    static const SurveyedRun run("0,1,2,3,4");
    return run;
}

SurveyResult surveys_in(const fs::path& directory) {
    return analyse_surveys(directory, train_config_of_run("--run", directory.string()), 0.99);
}

/// A copy of the run whose recordings can be changed.
class ChangedRun {
  public:
    ChangedRun() {
        fs::copy(recorded_by_all().directory(), directory(), fs::copy_options::recursive);
    }
    [[nodiscard]] fs::path directory() const { return folder_.path("run"); }
    [[nodiscard]] fs::path view_of(const std::string& kind, int agent) const {
        return directory() / ("views-" + kind) / std::to_string(agent) / "view.bin";
    }

    /// Changes contribution and noise, and sends their sum.
    void change(const std::string& kind,
                int agent,
                const std::function<void(VectorXd& contribution, VectorXd& noise)>& how) const {
        change_all(kind, agent, [&](VectorXd& contribution, VectorXd& noise, VectorXd& message) {
            how(contribution, noise);
            message = -(contribution + noise);
        });
    }
    void change_all(
        const std::string& kind,
        int agent,
        const std::function<void(VectorXd& contribution, VectorXd& noise, VectorXd& message)>& how)
        const {
        const fs::path file = view_of(kind, agent);
        const RecordedView view = read_recorded_view(file);
        RecordedRound first = view.records.front();
        VectorXd noise = first.noise, message = first.message;
        how(first.gradient, noise, message);
        std::string bytes = read_file(file);
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data() + 8, sizeof length);
        const auto d = static_cast<std::size_t>(first.gradient.size());
        std::size_t value = 3 + static_cast<std::size_t>(first.mixing_row.size()) + d;
        for (const VectorXd& vector : std::array{first.gradient, noise, message}) {
            std::memcpy(bytes.data() + 16 + length + sizeof(double) * value,
                        vector.data(),
                        sizeof(double) * d);
            value += d;
        }
        write_file_atomically(file, bytes);
    }
    [[nodiscard]] std::vector<std::string> findings() const {
        return surveys_in(directory()).findings;
    }

  private:
    TemporaryFolder folder_;
};

bool any_says(const std::vector<std::string>& findings, const std::string& part) {
    return std::ranges::any_of(
        findings, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(SurveyAttack, FindsNothingInAnHonestTraining) {
    const SurveyResult result = surveys_in(recorded_by_all().directory());
    EXPECT_TRUE(result.consistent()) << result.findings.front();
    EXPECT_EQ(result.mechanism, "pairs");
    ASSERT_EQ(result.surveys.size(), 2);
    for (const SurveyFigures& survey : result.surveys) {
        EXPECT_EQ(survey.agents, (std::vector<int>{0, 1, 2, 3, 4}));
        EXPECT_TRUE(survey.contributions_sound && survey.messages_sound && survey.seeds_sound);
        EXPECT_LE(survey.noise_lower, 1);
        EXPECT_GE(survey.noise_upper, 1);
        EXPECT_NEAR(survey.share, survey.share_allowed, 1e-6);
        EXPECT_GT(survey.mu, 0);
        EXPECT_GT(survey.epsilon, 0);
    }
    EXPECT_EQ(result.surveys[0].folder, "views-moments");
    EXPECT_EQ(result.surveys[1].folder, "views-norms");
    EXPECT_EQ(result.surveys[1].phase, 1);
    // The eavesdropper learns no more than the observers that the plan counts.
    const double budget = gdp_mu(10, 1e-5);
    EXPECT_LE(result.surveys[1].mu, std::sqrt(0.02) * budget * (1 + 1e-6));
}

TEST(SurveyAttack, FindsNothingInHonestTrainingsOfOtherKinds) {
    for (const OptionTexts& options :
         {OptionTexts{{"adjacency", "record"}},
          OptionTexts{{"precision", "float32"}, {"mechanism", "ldp"}},
          OptionTexts{{"coalition-size", "2"}, {"topology", "complete"}},
          OptionTexts{{"unit-column", "person"}}}) {
        const SurveyedRun run("1,3,4", options);
        const SurveyResult result = surveys_in(run.directory());
        EXPECT_EQ(result.findings, std::vector<std::string>()) << options.begin()->first;
        ASSERT_EQ(result.surveys.size(), 2);
        EXPECT_EQ(result.surveys[1].agents, (std::vector<int>{1, 3, 4}));
    }
}

TEST(SurveyAttack, FindsOneHistogramWithoutNoise) {
    const ChangedRun run;
    run.change("norms", 2, [](VectorXd&, VectorXd& noise) { noise.setZero(); });
    const auto findings = run.findings();
    EXPECT_TRUE(any_says(findings, "views-norms, agent 2: its noise has 0 of the variance"));
    EXPECT_TRUE(any_says(findings, "views-norms, agent 2: its noise is not that of its seeds"));
    EXPECT_FALSE(any_says(findings, "agent 1"));
    EXPECT_FALSE(any_says(findings, "views-moments"));
}

TEST(SurveyAttack, FindsNoiseOfHalfTheSize) {
    for (const char* kind : {"norms", "moments"}) {
        const ChangedRun run;
        for (int agent = 0; agent < surveyed_agents; ++agent)
            run.change(kind, agent, [](VectorXd&, VectorXd& noise) { noise *= 0.5; });
        EXPECT_TRUE(any_says(run.findings(),
                             fmt::format("views-{}: the noise of all recorded agents has", kind)))
            << fmt::format("{}", fmt::join(run.findings(), "\n"));
    }
}

TEST(SurveyAttack, FindsRecordsInTwoBinsAndPartsOfRecords) {
    const ChangedRun run;
    run.change("norms", 1, [](VectorXd& counts, VectorXd&) { counts(3) += 1; });
    run.change("norms", 3, [](VectorXd& counts, VectorXd&) { counts(3) -= 1; });
    run.change("norms", 4, [](VectorXd& counts, VectorXd&) {
        Eigen::Index heaviest = 0;
        counts.maxCoeff(&heaviest);
        counts(heaviest) -= 0.5;
    });
    const auto findings = run.findings();
    ASSERT_EQ(findings.size(), 3);
    EXPECT_EQ(findings[0],
              "views-norms, agent 1: its contribution counts 241 records (allowed: 240, each in "
              "one bin)");
    EXPECT_EQ(findings[1],
              "views-norms, agent 3: its contribution has -1 in bin 3 (allowed: whole numbers from "
              "0 on)");
    expect_contains(findings[2], "views-norms, agent 4: its contribution has ");
}

TEST(SurveyAttack, FindsMomentsBeyondTheirBounds) {
    const ChangedRun run;
    run.change("moments", 0, [](VectorXd& sums, VectorXd&) { sums(1) = -241; });
    run.change("moments", 1, [](VectorXd& sums, VectorXd&) { sums(2) = -1; });
    const auto findings = run.findings();
    ASSERT_EQ(findings.size(), 2);
    EXPECT_EQ(findings[0],
              "views-moments, agent 0: its contribution has -241 as sum of z of column 1 (allowed: "
              "-240 to 240)");
    EXPECT_EQ(findings[1],
              "views-moments, agent 1: its contribution has -1 as sum of z^2 of column 0 (allowed: "
              "0 to 240)");
}

TEST(SurveyAttack, FindsAMessageThatIsNotWhatItIsMadeOf) {
    const ChangedRun run;
    run.change_all("norms", 4, [](VectorXd&, VectorXd&, VectorXd& message) { message(7) += 1; });
    EXPECT_EQ(run.findings(),
              std::vector<std::string>{
                  "views-norms, agent 4: its message is not its contribution and its noise"});
}

TEST(SurveyAttack, FindsARoundThatSpendsTooMuch) {
    const fs::path directory = recorded_by_all().directory();
    TrainConfig config = train_config_of_run("--run", directory.string());
    config.plan.epsilon = 5;
    const auto findings = analyse_surveys(directory, config, 0.99).findings;
    ASSERT_EQ(findings.size(), 2 * surveyed_agents);
    expect_contains(findings.front(), "views-moments, agent 0: it spends ");
    expect_contains(findings.front(), "% of the budget's mu^2 (allowed: 5%)");
    expect_contains(findings.back(), "% of the budget's mu^2 (allowed: 2%)");
}

TEST(SurveyAttack, FindsARoundThatNobodyCounts) {
    const ChangedRun run;
    const fs::path file = run.view_of("norms", 0);
    std::string bytes = read_file(file);
    const std::string epoch = "\"key_epoch\":1";
    const std::size_t at = bytes.find(epoch);
    ASSERT_NE(at, std::string::npos);
    bytes[at + epoch.size() - 1] = '7';
    write_file_atomically(file, bytes);
    const auto findings = run.findings();
    EXPECT_EQ(findings,
              std::vector<std::string>{"views-norms: agent 0 recorded a round that is in no phase "
                                       "of the ledger, so nothing is counted for it"});
}

TEST(SurveyAttack, NeedsRecordings) {
    const SurveyedRun run("");
    expect_contains(message_of<DataError>([&] { (void)surveys_in(run.directory()); }),
                    "no paid round before its training is recorded there");
}

TEST(SurveyAttack, IsMadeOnTheDirectoryOfATrainingOnly) {
    const auto refusal = [](const OptionTexts& given) {
        return message_of<ConfigError>([&] { (void)read_audit_config(given); });
    };
    expect_contains(refusal({{"attack", "survey"}}),
                    "--attack: survey looks at a training that has ended (give --run DIR");
    const std::string run = recorded_by_all().directory().string();
    expect_contains(refusal({{"attack", "survey"}, {"run", run}, {"rounds", "7"}}),
                    "--rounds: has no meaning with --attack survey");
    const AuditConfig config =
        read_audit_config({{"attack", "survey"}, {"run", run}, {"confidence", "0.95"}});
    EXPECT_EQ(config.level, 0.95);
    const auto result = test::audit<SurveyResult>(config);
    EXPECT_TRUE(result.consistent());
    EXPECT_EQ(result.agents, surveyed_agents);
    const auto json = result.json();
    EXPECT_EQ(json.at("survey").size(), 2);
    EXPECT_EQ(json.at("survey")[1].at("kind"), "norms");
    EXPECT_EQ(json.at("survey")[1].at("share_allowed"), 0.02);
    EXPECT_FALSE(fs::exists(recorded_by_all().directory() / "audit.json"));
    expect_contains(audit_report_text(result), "views-norms");
}

}  // namespace
}  // namespace sotto
