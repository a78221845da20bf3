#include "commands/supervise/common_network.hpp"

#include <gtest/gtest.h>

namespace sotto::cli {
namespace {

using Words = std::vector<std::string>;
using Answers = std::map<std::string, HostAnswer>;

std::string nowhere(const std::string&) { return {}; }

/// Two hosts with two networks and docker's bridge.
Answers two_hosts() {
    return {
        {"a",
         {"a", {{"docker0", "172.17.0.1", 16}, {"eth0", "10.0.0.1", 24}, {"ib0", "10.1.2.1", 16}}}},
        {"b",
         {"b",
          {{"eth1", "10.0.0.2", 24}, {"docker0", "172.17.0.1", 16}, {"ib0", "10.1.3.2", 16}}}}};
}

TEST(CommonNetworks, AreThoseInWhichEveryHostHasItsOwnAddress) {
    EXPECT_EQ(common_networks(two_hosts()), (Words{"10.0.0.0/24", "10.1.0.0/16"}));
    Answers answers = two_hosts();
    answers["c"] = {"c", {{"ib0", "10.1.0.3", 16}, {"eth0", "10.0.0.3", 16}}};
    EXPECT_EQ(common_networks(answers), Words{"10.1.0.0/16"})
        << "another prefix is another network";
    answers["d"] = {"d", {{"ib0", "10.1.2.1", 16}}};
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
    EXPECT_EQ(chosen_network({{"a", {"a", {}}}}, nowhere), "");
}

TEST(NetworkWords, AreThereForSeveralHostsThatAllAnswer) {
    const auto parsed = [](const std::string& hosts, const Words& more) {
        Words words{"mpirun"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--host", hosts, "sotto", "train"});
        return parse_launcher(words, {"train"});
    };
    const Answers answers{{"10.0.0.1", two_hosts().at("a")}, {"10.0.0.2", two_hosts().at("b")}};
    EXPECT_EQ(network_words(parsed("10.0.0.1,10.0.0.2", {}), answers),
              (Words{"--mca",
                     "btl_tcp_if_include",
                     "10.0.0.0/24",
                     "--mca",
                     "oob_tcp_if_include",
                     "10.0.0.0/24"}));
    EXPECT_TRUE(network_words(parsed("10.0.0.1,10.0.0.2,10.0.0.3", {}), answers).empty());
    EXPECT_TRUE(network_words(parsed("10.0.0.1", {}), answers).empty());
    EXPECT_TRUE(
        network_words(parsed("10.0.0.1,10.0.0.2", {"--mca", "btl_tcp_if_include", "eth0"}), answers)
            .empty());
}

TEST(ResolvedAddress, IsOfIPv4) {
    EXPECT_EQ(resolved_address("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(resolved_address("no.such.host.invalid"), "");
}

}  // namespace
}  // namespace sotto::cli
