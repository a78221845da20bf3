#include "commands/doctor/doctor_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "commands/doctor/findings_fixtures.hpp"

namespace sotto {
namespace {

using test::four_ranks_on_two_hosts;

TEST(Report, SaysTheSameInJsonAndForPeople) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[1].checks[0] = {"folder", false, "is full", "make room", false};
    const auto merged = merge_findings(ranks);
    const auto json = nlohmann::json::parse(doctor_report_json(ranks, merged));
    EXPECT_EQ(json.at("ok"), false);
    EXPECT_EQ(json.at("ranks"), 4);
    EXPECT_EQ(json.at("hosts").size(), 2U);
    EXPECT_EQ(json.at("hosts")[1].at("host"), "beta");
    EXPECT_EQ(json.at("hosts")[1].at("ranks"), (std::vector<int>{2, 3}));
    EXPECT_EQ(json.at("checks")[0].at("ok"), false);
    EXPECT_EQ(json.at("checks")[0].at("fix"), "make room");
    const std::string text = doctor_report_text(ranks, merged);
    for (const char* part : {"alpha: ranks 0-1",
                             "beta: ranks 2-3",
                             "FAIL  folder   rank 1 on alpha: is full",
                             "fix: make room",
                             "ok    version  1.0",
                             "1 of 2 checks failed"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace sotto
