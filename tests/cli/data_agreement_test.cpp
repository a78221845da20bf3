// Ranks that read other records than rank 0, as a user starts them.

#include <algorithm>
#include <array>
#include <cmath>

#include "program.hpp"

namespace sotto::test {
namespace {

constexpr int records = 90;

class DataAgreement : public ::testing::Test {
  protected:
    [[nodiscard]] static Arguments training(const Arguments& data) {
        Arguments arguments{
            "train", "--rounds", "10", "--batch-size", "5", "--quiet", "--run-directory", "run"};
        arguments.insert(arguments.end(), data.begin(), data.end());
        return arguments;
    }
    /// Ranks 1 and 2 of three read the second.
    [[nodiscard]] Outcome run(const Arguments& rank_0, const Arguments& others) const {
        return Process(disagreeing_command(training(rank_0), training(others)), directory_.path())
            .wait();
    }
    void expect_difference(const Outcome& outcome, const std::string& part) const {
        EXPECT_EQ(outcome.exit_code, 3) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find(part), std::string::npos) << outcome.text();
        EXPECT_NE(errors.front().find("rank 1 ("), std::string::npos) << outcome.text();
        EXPECT_NE(errors.front().find("rank 2 ("), std::string::npos) << outcome.text();
        EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
    }
    /// Its lines, the first of them last.
    [[nodiscard]] static std::string shuffled(const std::string& text) {
        const std::size_t first = text.find('\n') + 1;
        return text.substr(first) + text.substr(0, first);
    }

    TempDir directory_;
    std::string text_ = small_data(records);
    std::string data_ = directory_.write("data.svm", text_);
};

TEST_F(DataAgreement, RefusesAFileThatIsShuffledOrCutShort) {
    const std::string other = directory_.write("shuffled.svm", shuffled(text_));
    expect_difference(run({"--data", data_}, {"--data", other}), "has other records on rank 1");
    const std::string cut =
        directory_.write("cut.svm", text_.substr(0, text_.rfind('\n', text_.size() - 2) + 1));
    expect_difference(run({"--data", data_}, {"--data", cut}), "data: ");
}

TEST_F(DataAgreement, RefusesOtherTestData) {
    const std::string other = directory_.write("shuffled.svm", shuffled(text_));
    expect_difference(
        run({"--data", data_, "--test-data", data_}, {"--data", data_, "--test-data", other}),
        "test-data: ");
    expect_difference(run({"--data", data_ + "," + other}, {"--data", data_}),
                      "another number of files");
}

TEST_F(DataAgreement, TakesTheSameRecordsElsewhere) {
    const std::string copy = directory_.write("copy.svm", "# a copy\n" + text_);
    const Outcome outcome = run({"--data", data_}, {"--data", copy});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(json_of(directory_ / "run/data.json").at("files").at(0).at("records"), records);
}

TEST_F(DataAgreement, ComparesNoFilesOfAgents) {
    for (const char* name : {"own-0", "own-1", "own-2"}) {
        text_ = shuffled(text_);
        (void)directory_.write(name, text_);
    }
    const std::string own = directory_ / "own-%r";
    const Outcome outcome = run({"--data", own}, {"--data", own});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    std::vector<std::string> digests;
    for (const char* agent : {"0", "1", "2"})
        digests.push_back(
            json_of(directory_.path() / "run/agents" / agent / "data.json").at("blake2b"));
    std::ranges::sort(digests);
    EXPECT_EQ(std::ranges::adjacent_find(digests), digests.end());
    // What others may read has none of them.
    for (const char* file : {"manifest.json", "ledger.json", "history.json", "summary.json"})
        for (const std::string& digest : digests)
            EXPECT_EQ(content_of(directory_.path() / "run" / file).find(digest), std::string::npos)
                << file;
}

/// Agents 0, 1 and 2 have files of their own; every label stands for one of the features.
class DataOfAgents : public ::testing::Test {
  protected:
    void write_own(int agent, const std::string& text) {
        (void)directory_.write("own-" + std::to_string(agent), text);
    }
    [[nodiscard]] static std::string records(const std::vector<int>& labels, int each) {
        std::string text;
        for (int i = 0; i < each; ++i)
            for (const int label : labels)
                text += std::to_string(label) + " " + std::to_string(label + 1) + ":1\n";
        return text;
    }
    [[nodiscard]] Outcome train(const Arguments& more,
                                int ranks = 3,
                                const std::string& step_size = "1") const {
        Arguments arguments{"train",
                            "--data",
                            directory_ / "own-%r",
                            "--mechanism",
                            "none",
                            "--topology",
                            "complete",
                            "--agents",
                            "3",
                            "--clip-norm",
                            "10",
                            "--step-size",
                            step_size,
                            "--batch-size",
                            "all",
                            "--run-directory",
                            "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_sotto(directory_, ranks, arguments);
    }
    [[nodiscard]] nlohmann::json summary() const {
        return json_of(directory_ / "run/summary.json");
    }
    void expect_one_error(const Outcome& outcome, int code, const std::string& part) const {
        EXPECT_EQ(outcome.exit_code, code) << outcome.text();
        EXPECT_FALSE(outcome.timed_out);
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find(part), std::string::npos) << outcome.text();
    }

    TempDir directory_;
};

TEST_F(DataOfAgents, AreCodedAlikeWhereEachHasTwoClassesOutOfSix) {
    for (const int agent : {0, 1, 2}) write_own(agent, records({2 * agent, 2 * agent + 1}, 20));
    for (const int ranks : {3, one_process}) {
        std::filesystem::remove_all(directory_ / "run");
        const Outcome outcome = train({"--task", "softmax", "--rounds", "60"}, ranks);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_EQ(summary().at("test_accuracy"), 1);
        EXPECT_EQ(summary().at("test_accuracy_mean_model"), 1);
        EXPECT_NE(outcome.text().find("classes    0 -> 0, 1 -> 1, 2 -> 2"), std::string::npos)
            << outcome.text();
        const auto classes = json_of(directory_ / "run/manifest.json").at("classes");
        ASSERT_EQ(classes.size(), 6U);
        EXPECT_EQ(classes.at(5).at("label"), 5);
        EXPECT_EQ(classes.at(5).at("class"), 5);
    }
}

TEST_F(DataOfAgents, MayBeOfOneClassWhereOthersHaveTwo) {
    write_own(0, records({1}, 20));
    write_own(1, records({1, 2}, 20));
    write_own(2, records({2, 1}, 20));
    const Outcome outcome = train({"--task", "logistic", "--rounds", "60"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(summary().at("test_accuracy"), 1);
    EXPECT_NE(outcome.text().find("classes    1 -> -1, 2 -> +1"), std::string::npos)
        << outcome.text();
}

TEST_F(DataOfAgents, TestTheMeanModelOnAllTestRecordsOfAll) {
    // Sites of different sizes, at which the label follows the feature more or less often.
    for (const int agent : {0, 1, 2}) {
        std::string text;
        for (int i = 0; i < 30 + 60 * agent; ++i) {
            const int feature = i % 2, seldom = (7 * i) % 10;
            text += std::to_string(seldom < 2 + agent ? 1 - feature : feature) + " " +
                    std::to_string(feature + 1) + ":1 3:" + std::to_string(seldom) + "\n";
        }
        write_own(agent, text);
    }
    for (const int ranks : {3, one_process}) {
        std::filesystem::remove_all(directory_ / "run");
        const Outcome outcome =
            train({"--task", "logistic", "--rounds", "40", "--final-gossip", "5"}, ranks, "0.1");
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const auto figures = summary();
        EXPECT_LT(figures.at("consensus_distance").get<double>(), 1e-12);
        const auto accuracy = figures.at("test_accuracy_mean_model").get<double>();
        EXPECT_NEAR(figures.at("test_accuracy").get<double>(), accuracy, 1e-12);
        EXPECT_NEAR(figures.at("test_loss").get<double>(),
                    figures.at("test_loss_mean_model").get<double>(),
                    1e-12);
        // 6, 18 and 30 records are held out.
        EXPECT_NEAR(54 * accuracy, std::round(54 * accuracy), 1e-9);
        EXPECT_LT(accuracy, 1);
        EXPECT_GT(accuracy, 0.5);
    }
}

TEST_F(DataOfAgents, OfOneClassAltogetherAreRefused) {
    for (const int agent : {0, 1, 2}) write_own(agent, records({3}, 20));
    expect_one_error(train({"--rounds", "5"}), 3, "all records are of one class, label 3");
}

TEST_F(DataOfAgents, AreNotTestedOnLabelsThatNobodyHas) {
    for (const int agent : {0, 1, 2}) {
        write_own(agent, records({0, 1, 2}, 20));
        (void)directory_.write("test-" + std::to_string(agent),
                               agent == 2 ? "0 1:1\n9 2:1\n" : records({0, 1}, 2));
    }
    const std::string test = directory_ / "test-%r";
    expect_one_error(train({"--task", "softmax", "--rounds", "5", "--test-data", test}),
                     3,
                     "test-2: record 2 has label 9, which no training data have");
    (void)directory_.write("test-2", records({2}, 2));
    const Outcome outcome = train({"--task", "softmax", "--rounds", "60", "--test-data", test});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(summary().at("test_accuracy_mean_model"), 1);
}

TEST_F(DataOfAgents, EndTheJobWhereOneRankCannotReadItsOwn) {
    write_own(0, records({0, 1}, 20));
    write_own(2, records({0, 1}, 20));
    for (const char* damaged : {"1 1:nan\n", "x\n", "0.5 1:1\n", "0 0:1\n"}) {
        write_own(1, damaged);
        expect_one_error(train({"--task", "softmax", "--rounds", "5"}), 3, "own-1");
    }
    write_own(1, "1,2,3\n");
    expect_one_error(train({"--task", "softmax", "--rounds", "5"}),
                     3,
                     "files of rank 1 are tables, those of this rank are none");
}

TEST_F(DataOfAgents, HaveTheirColumnsInAnyOrder) {
    // effect = age + 2 dose, in other columns for every agent.
    for (const int agent : {0, 1, 2}) {
        const char* const headers[] = {
            "age,dose,effect\n", "dose,age,effect\n", "effect,dose,age\n"};
        std::string text = headers[agent];
        for (int i = 0; i < 30; ++i) {
            const int age = (7 * i + agent) % 11, dose = (3 * i + 2 * agent) % 7;
            const auto of = [&](char column) {
                return std::to_string(column == 'a' ? age : column == 'd' ? dose : age + 2 * dose);
            };
            const std::string order = std::string(headers[agent]).substr(0, 1) == "a"   ? "ade"
                                      : std::string(headers[agent]).substr(0, 1) == "d" ? "dae"
                                                                                        : "eda";
            text += of(order[0]) + "," + of(order[1]) + "," + of(order[2]) + "\n";
        }
        write_own(agent, text);
    }
    const Arguments options{"--task",
                            "mlp",
                            "--label",
                            "effect",
                            "--label-kind",
                            "value",
                            "--rounds",
                            "200",
                            "--standardise",
                            "public"};
    const Outcome outcome = train(options, 3, "0.1");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_LT(summary().at("test_loss_mean_model").get<double>(), 0.05)
        << "of the target's variance; with mixed columns it is near 1";
    write_own(1, "dose,weight,effect\n1,2,3\n4,5,6\n7,8,1\n");
    expect_one_error(train(options), 3, "it alone has \"weight\"; it lacks \"age\"");
}

TEST_F(DataAgreement, NamesOptionsThatDifferWithBothValues) {
    for (const auto& [option, here, there] : {std::array<std::string, 3>{"--l2", "0", "0.5"},
                                              {"--step-size", "0.05", "0.1"},
                                              {"--step-schedule", "constant", "inverse"}}) {
        const Outcome outcome = run({option, here}, {option, there});
        EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find("rank 1 was started with " + option + " " + there +
                                      ", rank 0 with " + option + " " + here),
                  std::string::npos)
            << outcome.text();
    }
}

}  // namespace
}  // namespace sotto::test
