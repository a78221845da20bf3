// Ranks that read other records than rank 0, as a user starts them.

#include <algorithm>

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

}  // namespace
}  // namespace sotto::test
