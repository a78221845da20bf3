#include "options/agent_numbers.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(AgentNumbers, AreSortedAndReadBack) {
    EXPECT_EQ(parse_agent_numbers("--without", "7,2,11"), (std::vector<int>{2, 7, 11}));
    EXPECT_EQ(agent_numbers_text({2, 7, 11}), "2,7,11");
    EXPECT_EQ(agent_numbers_text({}), "");
    EXPECT_TRUE(parse_agent_numbers("--without", "").empty());
}

TEST(AgentNumbers, RefuseWordsRepetitionsAndNegativeNumbers) {
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_agent_numbers("--without", text); });
    };
    expect_contains(refusal("1,1"), "--without: agent 1 is named twice");
    expect_contains(refusal("x"), "--without");
    expect_contains(refusal("-1"), "-1");
    expect_contains(refusal("1,,2"), "--without");
}

TEST(RecordedNames, AreAgentsAndTheEavesdropper) {
    const RecordedNames names = parse_recorded_names("--record-view", "5,eavesdropper,2");
    EXPECT_EQ(names.agents, (std::vector<int>{2, 5}));
    EXPECT_TRUE(names.wire);
    EXPECT_EQ(recorded_names_text(names), "2,5,eavesdropper");
    EXPECT_EQ(recorded_names_text({{}, true}), "eavesdropper");
    EXPECT_EQ(recorded_names_text({{3}, false}), "3");
    EXPECT_EQ(recorded_names_text({}), "");
}

TEST(RecordedNames, RefuseWhatIsNeither) {
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_recorded_names("--record-view", text); });
    };
    expect_contains(refusal("eavesdroper"), "'eavesdroper' is neither an agent's number nor");
    expect_contains(refusal("eavesdropper,eavesdropper"), "eavesdropper is named twice");
    expect_contains(refusal("0,0"), "agent 0 is named twice");
    expect_contains(refusal(","), "''");
    expect_contains(refusal(""), "no agent is named");
}

}  // namespace
}  // namespace sotto
