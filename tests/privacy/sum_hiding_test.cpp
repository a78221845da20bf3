#include "sotto/privacy/sum_hiding.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "privacy/sum_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::five_agents;
using test::message_of;

TEST(SumHiding, IsSaidOfEveryNumberOfColluders) {
    const auto lines = statements_of(five_agents());
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_TRUE(contains(lines[0], "only the weighted sum of its neighbours' messages"));
    EXPECT_EQ(lines[1],
              "Secure sums, 1 colluder: nobody's message is learnt; at least 81% of each stays "
              "hidden, in sums of 3 or more messages.");
    EXPECT_EQ(lines[2],
              "Secure sums, 2 colluders: agents 0, 2 have the message of agent 1; agents 0, 1 (2 "
              "of 5) can lose theirs so in some of 2 rounds, 1 in every one.");
    EXPECT_EQ(lines[3], "Secure sums, 3 colluders or more: not computed.");
}

TEST(SumHiding, NamesACoalitionThatIsKnownToHaveAMessage) {
    SumHiding hiding = five_agents();
    hiding.against.resize(1);
    hiding.known = SumExample{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {9, 10}, 0};
    const auto lines = statements_of(hiding);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[2],
              "Secure sums, 9 colluders: agents 0, 1, 2, 3, 4, 5, 6, 7, ... have the messages of "
              "agents 9, 10.");
}

TEST(SumHiding, SaysNothingMoreOnceEverybodyIsExposed) {
    SumHiding hiding = five_agents();
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 2};
    EXPECT_EQ(statements_of(hiding).size(), 3U);
}

TEST(SumHiding, OfNothingIsRefusedWithWhatToChange) {
    SumHiding hiding = five_agents();
    EXPECT_NO_THROW(require_hiding(hiding));
    hiding.asked = 2;
    EXPECT_NO_THROW(require_hiding(hiding));  // some in one round only, others never
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 1};
    EXPECT_NO_THROW(require_hiding(hiding));
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 2};
    const std::string text = message_of<ConfigError>([&] { require_hiding(hiding); });
    for (const char* part : {"secure-sum: on hides nothing",
                             "2 colluders to withstand",
                             "agents 0, 2 have the message of agent 1",
                             "--topology",
                             "--mixing-schedule",
                             "a smaller --coalition-size",
                             "--secure-sum off"})
        EXPECT_TRUE(contains(text, part));
    hiding.asked = 1;
    EXPECT_NO_THROW(require_hiding(hiding));
}

TEST(SumHiding, CallsAgentsByNumbers) {
    const std::vector<int> numbers{1, 2, 4, 5, 8};
    const SumHiding hiding = renumbered(five_agents(), numbers, 9);
    EXPECT_EQ(hiding.against[1].worst->colluders, (std::vector<int>{1, 4}));
    EXPECT_EQ(hiding.against[1].worst->exposed, std::vector<int>{2});
    EXPECT_EQ(hiding.against[1].rounds_exposed, (std::vector<long>{0, 2, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(hiding.against[1].exposed_in(1), (std::vector<int>{1, 2}));
    EXPECT_EQ(hiding.against[1].exposed_in(2), std::vector<int>{1});
    EXPECT_TRUE(hiding.against[2].rounds_exposed.empty());
    EXPECT_FALSE(hiding.nothing());
}

}  // namespace
}  // namespace sotto
