#include "net/host_networks.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sotto
