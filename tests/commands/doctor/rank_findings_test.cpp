// What many ranks found, as one list.

#include "commands/doctor/rank_findings.hpp"

#include <gtest/gtest.h>

#include "commands/doctor/findings_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::findings;
using test::four_ranks_on_two_hosts;

TEST(MergedFindings, AreThoseOfOneRankWhenAllAgree) {
    const auto merged = merge_findings(four_ranks_on_two_hosts());
    ASSERT_EQ(merged.size(), 2U);
    for (const auto& check : merged) EXPECT_TRUE(check.ok);
    EXPECT_EQ(merged[0].found, "can be written");
    EXPECT_EQ(merged[0].name, "folder");
    EXPECT_EQ(merged[0].fix, "");
}

TEST(MergedFindings, NameRankAndHostOfAFailure) {
    for (std::size_t failing = 0; failing < 4; ++failing) {
        auto ranks = four_ranks_on_two_hosts();
        ranks[failing].checks[0] = {"folder", false, "is full", "make room", false};
        const auto merged = merge_findings(ranks);
        EXPECT_FALSE(merged[0].ok);
        EXPECT_EQ(merged[0].found,
                  "rank " + std::to_string(failing) + " on " + (failing < 2 ? "alpha" : "beta") +
                      ": is full");
        EXPECT_EQ(merged[0].fix, "make room");
        EXPECT_TRUE(merged[1].ok);
    }
}

TEST(MergedFindings, GroupRanksOfAHostThatFailAlike) {
    auto ranks = four_ranks_on_two_hosts();
    for (auto& one : ranks) one.checks[0] = {"folder", false, "is full", "make room", false};
    EXPECT_EQ(merge_findings(ranks)[0].found,
              "ranks 0-1 on alpha: is full; ranks 2-3 on beta: is full");
}

TEST(MergedFindings, OfHundredsOfRanksStayOneReadableLine) {
    std::vector<RankFindings> ranks;
    for (int rank = 0; rank < 300; ++rank) {
        ranks.push_back(findings(rank, "host" + std::to_string(rank)));
        ranks.back().checks[0] = {"folder", false, "is full", "make room", false};
    }
    const std::string found = merge_findings(ranks)[0].found;
    EXPECT_LT(found.size(), 200U);
    EXPECT_NE(found.find("and 296 more"), std::string::npos) << found;
}

TEST(MergedFindings, ListHostsThatDifferWithoutFailing) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[2].checks[0].found = ranks[3].checks[0].found = "can be written, slowly";
    ranks[3].checks[0].fix = "buy a disk";
    const auto merged = merge_findings(ranks);
    EXPECT_TRUE(merged[0].ok);
    EXPECT_EQ(merged[0].found,
              "rank 0 on alpha: can be written; rank 2 on beta: can be written, slowly");
    EXPECT_EQ(merged[0].fix, "buy a disk") << "advice of one rank is advice";
}

TEST(MergedFindings, FailWhereRanksMustAgreeButDoNot) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[3].checks[1].found = "1.1";
    const auto merged = merge_findings(ranks);
    EXPECT_FALSE(merged[1].ok);
    EXPECT_EQ(merged[1].found, "ranks 0-1 on alpha: 1.0; rank 2 on beta: 1.0; rank 3 on beta: 1.1");
    EXPECT_FALSE(merged[1].fix.empty());
    EXPECT_TRUE(merged[0].ok);
}

TEST(MergedFindings, RefuseARankThatMadeOtherChecks) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[2].checks[1].name = "colour";
    EXPECT_THROW((void)merge_findings(ranks), DataError);
    ranks = four_ranks_on_two_hosts();
    ranks[2].checks.pop_back();
    EXPECT_THROW((void)merge_findings(ranks), DataError);
}

TEST(Findings, SurviveTheirWayToRankZero) {
    auto one = findings(3, "gamma");
    one.checks[0] = {"folder", false, "tab\t, quote \", newline\n, \xc3\xa9", "fix", true};
    const auto back = findings_from_json(to_json(one));
    EXPECT_EQ(back.placement.rank, 3);
    EXPECT_EQ(back.placement.host, "gamma");
    EXPECT_EQ(back.placement.cores_on_host, 2);
    ASSERT_EQ(back.checks.size(), 2U);
    EXPECT_EQ(back.checks[0].found, one.checks[0].found);
    EXPECT_FALSE(back.checks[0].ok);
    EXPECT_TRUE(back.checks[0].must_agree);
    one.checks[0].found = "not UTF-8: \xff";
    EXPECT_NO_THROW((void)findings_from_json(to_json(one)));
    EXPECT_THROW((void)findings_from_json("{"), DataError);
    EXPECT_THROW((void)findings_from_json("{\"rank\": 1}"), DataError);
}

TEST(Findings, WithNumbersOrNestingThatDoNotFitAreRefused) {
    const std::string good = to_json(RankFindings{});
    EXPECT_NO_THROW((void)findings_from_json(good));
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    for (const std::string& value : {std::string("1e300"), std::string("4294967296"), deep}) {
        std::string text = good;
        text.replace(text.find("\"rank\":0"), 8, "\"rank\":" + value);
        EXPECT_THROW((void)findings_from_json(text), DataError) << value.substr(0, 20);
    }
}

TEST(Ranges, AreShort) {
    EXPECT_EQ(ranges_text({}), "");
    EXPECT_EQ(ranges_text({4}), "4");
    EXPECT_EQ(ranges_text({0, 1, 2, 3, 7, 9, 10}), "0-3, 7, 9-10");
}

}  // namespace
}  // namespace sotto
