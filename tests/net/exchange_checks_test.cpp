#include "net/exchange_checks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

constexpr double values[] = {1, 2};
constexpr std::size_t receivers = 3;

const Outgoing to_all{values, {}};
const Outgoing per_receiver{nullptr, {values, values, values}};

std::string why(const Outgoing& outgoing, const Outgoing& first) {
    return message_of<Error>([&] { check_outgoing(outgoing, first, receivers, 5); });
}

Outgoing with_lists(std::vector<std::uint8_t> to, std::vector<std::uint8_t> from) {
    Outgoing outgoing = to_all;
    outgoing.to = std::move(to);
    outgoing.from = std::move(from);
    return outgoing;
}

TEST(CheckOutgoing, AcceptsEitherKindWithOrWithoutListsOfWhoTakesPart) {
    EXPECT_NO_THROW(check_outgoing(to_all, to_all, receivers, 5));
    EXPECT_NO_THROW(check_outgoing(per_receiver, per_receiver, receivers, 5));
    const Outgoing resting = with_lists({1, 0, 1}, {1, 0, 1});
    EXPECT_NO_THROW(check_outgoing(resting, resting, receivers, 5));
}

TEST(CheckOutgoing, NamesTheAgentAndWhatIsWrong) {
    EXPECT_TRUE(contains(why({}, to_all), "agent 5: give either one vector"));
    EXPECT_TRUE(contains(why({values, {values, values, values}}, to_all), "give either one"));
    EXPECT_TRUE(contains(why(per_receiver, to_all), "of one kind"));
    EXPECT_TRUE(contains(why(to_all, per_receiver), "of one kind"));
    EXPECT_TRUE(contains(why({nullptr, {values, values}}, per_receiver), "2 vectors"));
    EXPECT_TRUE(contains(why({nullptr, {values, nullptr, values}}, per_receiver), "missing"));
    const Outgoing resting = with_lists({1, 1, 1}, {1, 1, 1});
    EXPECT_TRUE(contains(why(resting, to_all), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(to_all, resting), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(with_lists({1, 1}, {1, 1}), resting), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(with_lists({1, 1, 1}, {}), resting), "whole closed neighbourhood"));
}

TEST(CheckConnect, TakesOneGraphOfTheNetworksSize) {
    const Graph graph = Graph::from_edges(3, {{0, 1}});
    EXPECT_NO_THROW(check_connect(graph, 3, false));
    EXPECT_THROW(check_connect(graph, 3, true), Error);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { check_connect(graph, 4, false); }),
                         "3 agents and the network 4"));
}

TEST(CheckExchange, NeedsAGraphOneMessageAnAgentAndValues) {
    EXPECT_NO_THROW(check_exchange(true, 2, 2, 1));
    EXPECT_THROW(check_exchange(false, 2, 2, 1), Error);
    EXPECT_THROW(check_exchange(true, 1, 2, 1), Error);
    EXPECT_THROW(check_exchange(true, 2, 2, 0), Error);
}

}  // namespace
}  // namespace sotto
