#include "net/host_networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "network_fixtures.hpp"

namespace sotto {
namespace {

using Words = std::vector<std::string>;
using Answers = HostAddresses;

std::string nowhere(const std::string&) { return {}; }

/// Two hosts with two networks and docker's bridge.
Answers two_hosts() {
    return {{"a", addresses_from("docker0 172.17.0.1/16, eth0 10.0.0.1/24, ib0 10.1.2.1/16")},
            {"b", addresses_from("eth1 10.0.0.2/24, docker0 172.17.0.1/16, ib0 10.1.3.2/16")}};
}

TEST(Addresses, AreWrittenAndReadAgain) {
    const std::string text = "docker0 172.17.0.1/16, eth0 10.0.0.1/24";
    EXPECT_EQ(addresses_text(addresses_from(text)), text);
    EXPECT_TRUE(addresses_from("").empty());
    EXPECT_TRUE(addresses_from("eth0, eth0 10.0.0.1, eth0 10.0.0/24, eth0 10.0.0.1/33, e 1.2.3.4/x")
                    .empty());
    for (const HostAddress& own : own_addresses()) {
        EXPECT_FALSE(own.address.starts_with("127."));
        EXPECT_EQ(addresses_from(addresses_text({own})).size(), 1U) << own.address;
    }
}

TEST(RepeatedAddresses, NameInterfaceAndHosts) {
    EXPECT_EQ(repeated_addresses(two_hosts()), Words{"docker0 172.17.0.1 (a, b)"});
    EXPECT_TRUE(repeated_addresses({}).empty());
}

TEST(CommonNetworks, AreThoseInWhichEveryHostHasItsOwnAddress) {
    EXPECT_EQ(common_networks(two_hosts()), (Words{"10.0.0.0/24", "10.1.0.0/16"}));
    Answers answers = two_hosts();
    answers["c"] = addresses_from("ib0 10.1.0.3/16, eth0 10.0.0.3/16");
    EXPECT_EQ(common_networks(answers), Words{"10.1.0.0/16"})
        << "another prefix is another network";
    answers["d"] = addresses_from("ib0 10.1.2.1/16");
    EXPECT_TRUE(common_networks(answers).empty()) << "an address that is there twice";
    EXPECT_TRUE(common_networks({}).empty());
}

TEST(ChosenNetwork, IsTheOneThatTheHostsNamesLeadTo) {
    const Answers answers = two_hosts();
    EXPECT_EQ(chosen_network(answers, nowhere), "10.0.0.0/24,10.1.0.0/16");
    const auto over_ib = [](const std::string& name) {
        return std::string(name == "a" ? "10.1.2.1" : "10.1.3.2");
    };
    EXPECT_EQ(chosen_network(answers, over_ib), "10.1.0.0/16");
    const auto own_name = [](const std::string& name) {
        return std::string(name == "a" ? "127.0.1.1" : "10.0.0.2");
    };
    EXPECT_EQ(chosen_network(answers, own_name), "10.0.0.0/24");
    EXPECT_EQ(chosen_network({{"a", {}}}, nowhere), "");
}

TEST(ResolvedAddress, IsOfIPv4) {
    EXPECT_EQ(resolved_address("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(resolved_address("no.such.host.invalid"), "");
}

constexpr HostNetwork slow{0.01, 1e8};

/// The graph of that name.
Graph graph_named(const std::string& name, int agents) {
    for (test::NamedGraph& named : test::graphs_of(agents))
        if (named.name == name) return std::move(named.graph);
    throw Error(ExitCode::other, "no graph is called " + name);
}

/// One agent a process, one process a host.
std::vector<int> apart(int agents) {
    std::vector<int> hosts(static_cast<std::size_t>(agents));
    std::iota(hosts.begin(), hosts.end(), 0);
    return hosts;
}

double with_headers(double payload) { return payload + std::ceil(payload / 1448) * 66; }

TEST(ExchangeTime, IsLatencyAndTheBytesOfTheBusiestLink) {
    const ExchangeTime time =
        predict_exchange(slow, graph_named("star", 5), {5, 5}, apart(5), {.dimension = 124});
    EXPECT_EQ(time.busiest_host, 0);
    EXPECT_DOUBLE_EQ(time.busiest_bytes, 4 * with_headers(124 * 8 + 16 + 64));
    EXPECT_DOUBLE_EQ(time.latency_seconds, 0.01);
    EXPECT_DOUBLE_EQ(time.transfer_seconds, time.busiest_bytes * 8 / 1e8);
}

TEST(ExchangeTime, HasThreeLatenciesWhereMessagesAreAnnounced) {
    const Graph ring = graph_named("ring", 4);
    const auto latency = [&](const MessageFormat& format) {
        return predict_exchange(slow, ring, {4, 4}, apart(4), format).latency_seconds;
    };
    EXPECT_DOUBLE_EQ(latency({.dimension = 130000}), 0.01);
    // In pieces of 65536 values, one after the other.
    EXPECT_DOUBLE_EQ(latency({.dimension = 262144}), 4 * 0.01);
    // Two agents' messages travel together.
    const auto of_two = [&](Eigen::Index dimension) {
        return predict_exchange(
                   slow, graph_named("complete", 4), {4, 2}, apart(2), {.dimension = dimension})
            .latency_seconds;
    };
    EXPECT_DOUBLE_EQ(of_two(60000), 0.01);
    EXPECT_DOUBLE_EQ(of_two(80000), 0.03);
}

TEST(ExchangeTime, CountsWhatIsForAllOfAProcessOnceAndNothingInsideAHost) {
    const Graph complete = graph_named("complete", 6);
    const std::vector<int> three{0, 1, 2}, one{0, 0, 0};
    const MessageFormat shared{.dimension = 100, .encrypted = false};
    MessageFormat own = shared;
    own.per_receiver = true;
    // Two agents a process: to each of two others two messages, or one for each of two receivers.
    EXPECT_DOUBLE_EQ(predict_exchange(slow, complete, {6, 3}, three, shared).busiest_bytes,
                     2 * with_headers(2 * 800 + 64));
    EXPECT_DOUBLE_EQ(predict_exchange(slow, complete, {6, 3}, three, own).busiest_bytes,
                     2 * with_headers(4 * 800 + 64));
    const ExchangeTime inside = predict_exchange(slow, complete, {6, 3}, one, shared);
    EXPECT_EQ(inside.busiest_bytes, 0);
    EXPECT_EQ(inside.latency_seconds + inside.transfer_seconds, 0);
}

}  // namespace
}  // namespace sotto
