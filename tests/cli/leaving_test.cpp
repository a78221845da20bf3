// Agents that leave while a run goes on.

#include <fmt/format.h>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

class Leaving : public ::testing::TestWithParam<int> {
  protected:
    Process start(const Arguments& more = {}) const {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--agents",
                            "4",
                            "--topology",
                            "complete",
                            "--mechanism",
                            "decor",
                            "--rounds",
                            "400000",
                            "--batch-size",
                            "5",
                            "--eval-every",
                            "100",
                            "--checkpoint-every",
                            "100",
                            "--quiet",
                            "--leave-file",
                            "leave%r",
                            "--run-directory",
                            "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return {sotto_command(GetParam(), arguments), directory_.path()};
    }
    [[nodiscard]] bool has_begun() const {
        return lines_of(content_of(directory_ / "run/metrics.csv")).size() > 3;
    }
    [[nodiscard]] std::size_t phases() const {
        const std::string text = content_of(directory_ / "run/history.json");
        const Json history = Json::parse(text, nullptr, false);
        return history.is_discarded() ? 0 : history.at("phases").size();
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(60));
};

TEST_P(Leaving, DoesNotStopTheOthers) {
    Process process = start();
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    (void)directory_.write("leave2", "");
    ASSERT_TRUE(happens([&] { return phases() == 2; })) << "the others did not go on";
    (void)directory_.write("leave3", "");
    ASSERT_TRUE(happens([&] { return phases() == 3; })) << "the others did not go on again";
    process.signal_group(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    const Json ledger = json_of(directory_ / "run/ledger.json");
    ASSERT_EQ(ledger.at("phases").size(), 3U);
    EXPECT_EQ(ledger.at("phases")[1].at("agents_gone"), Json::array({2}));
    EXPECT_EQ(ledger.at("phases")[2].at("agents_gone"), Json::array({2, 3}));
    EXPECT_LE(ledger.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
}

TEST_P(Leaving, OfWhoLeadsStopsTheRun) {
    if (GetParam() == one_process) GTEST_SKIP() << "there nobody leads";
    Process process = start();
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    (void)directory_.write("leave0", "");
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("agents 0 cannot leave while the run goes on"), std::string::npos)
        << outcome.text();
    EXPECT_EQ(json_of(directory_ / "run/ledger.json").at("status"), "interrupted");
}
INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi, Leaving, ::testing::Values(one_process, 4));

}  // namespace
}  // namespace sotto::test
