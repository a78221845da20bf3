// Agents that leave while a run goes on.

#include <fmt/format.h>


#include "changing_members.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

class Leaving : public ChangingMembers {
  protected:
    [[nodiscard]] Process begin() const { return start(training({"--leave-file", "leave%r"})); }
};

TEST_P(Leaving, DoesNotStopTheOthers) {
    Process process = begin();
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    (void)directory_.write("leave2", "");
    ASSERT_TRUE(happens([&] { return phases() == 2; })) << "the others did not go on";
    (void)directory_.write("leave3", "");
    ASSERT_TRUE(happens([&] { return phases() == 3; })) << "the others did not go on again";
    // Before a phase's first round an interrupt ends the process at once, without its ledger.
    ASSERT_TRUE(goes_on());
    process.signal_group(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    const Json ledger = this->ledger();
    ASSERT_EQ(ledger.at("phases").size(), 3U);
    EXPECT_EQ(ledger.at("phases")[1].at("agents_gone"), Json::array({2}));
    EXPECT_EQ(ledger.at("phases")[2].at("agents_gone"), Json::array({2, 3}));
    EXPECT_LE(ledger.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
}

TEST_P(Leaving, OfWhoLeadsStopsTheRun) {
    if (GetParam() == one_process) GTEST_SKIP() << "there nobody leads";
    Process process = begin();
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    (void)directory_.write("leave0", "");
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("agents 0 cannot leave while the run goes on"), std::string::npos)
        << outcome.text();
    EXPECT_EQ(ledger().at("status"), "interrupted");
}
INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi, Leaving, ::testing::Values(one_process, 4));

}  // namespace
}  // namespace sotto::test
