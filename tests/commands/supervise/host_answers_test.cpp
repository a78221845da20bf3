#include "commands/supervise/host_answers.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/temporary_folder.hpp"
#include "sotto/core/host.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto::cli {
namespace {

using test::TemporaryFolder;
using Words = std::vector<std::string>;

TEST(HostAnswer, IsFoundAmongWhatALoginShellSays) {
    const HostAnswer answer = host_answer(
        "Welcome!\n"
        "sotto-host node7\n"
        "sotto-address 1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever\n"
        "sotto-address 2: eth0    inet 203.0.113.7/24 brd 203.0.113.255 scope global eth0\\ x\n"
        "sotto-address 3: docker0    inet 172.17.0.1/16 scope global docker0\n"
        "sotto-address 4: tun0    inet 10.9.0.1 peer 10.9.0.2/32 scope global tun0\n");
    EXPECT_EQ(answer.name, "node7");
    ASSERT_EQ(answer.addresses.size(), 2U);
    EXPECT_EQ(answer.addresses[0].interface, "eth0");
    EXPECT_EQ(answer.addresses[0].address, "203.0.113.7");
    EXPECT_EQ(answer.addresses[0].prefix, 24);
    EXPECT_EQ(answer.addresses[1].interface, "docker0");
    EXPECT_TRUE(host_answer("Permission denied\n").name.empty());
}

TEST(AskHosts, HearsThisHostWithoutAShellAndMakesTheFolderOfLogs) {
    const TemporaryFolder folder;
    LauncherWords words;
    words.remote_shell = "/bin/false";
    const std::string logs = folder.path("run/logs");
    const auto answers = ask_hosts(words, {"elsewhere", "localhost"}, logs, folder.path(""));
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers.at("localhost").name, local_host_name());
    EXPECT_TRUE(std::filesystem::is_directory(logs));
}

TEST(AskHosts, AsksWithTheRemoteShellOfMpirunAndWaitsForNobodyForEver) {
    const TemporaryFolder folder;
    const std::string shell = folder.write("shell",
                                           "#!/bin/sh\n"
                                           "[ \"$1\" = -q ] || exit 1\n"
                                           "[ \"$2\" != mute ] || exec sleep 60\n"
                                           "echo sotto-host \"says $2\"\n");
    std::filesystem::permissions(shell, std::filesystem::perms::owner_all);
    LauncherWords words;
    words.remote_shell = shell;
    words.remote_shell_options = "-q";
    const auto start = Clock::now();
    const auto answers = ask_hosts(words, {"mute", "other"}, "", folder.path(""), 2);
    EXPECT_LT(seconds_since(start), 30);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers.at("other").name, "says other");
}

TEST(NetworkWords, AreThereForSeveralHostsThatAllAnswer) {
    const auto parsed = [](const std::string& hosts, const Words& more) {
        Words words{"mpirun"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--host", hosts, "sotto", "train"});
        return parse_launcher(words, {"train"});
    };
    const auto at = [](const std::string& text) { return HostAnswer{"a", addresses_from(text)}; };
    const std::map<std::string, HostAnswer> answers{
        {"203.0.113.1", at("docker0 172.17.0.1/16, eth0 203.0.113.1/24")},
        {"203.0.113.2", at("docker0 172.17.0.1/16, eth0 203.0.113.2/24")}};
    // mpirun's own host, where this test runs, is not in that network.
    EXPECT_EQ(network_words(parsed("203.0.113.1,203.0.113.2", {}), answers),
              (Words{"--mca", "btl_tcp_if_include", "203.0.113.0/24"}));
    EXPECT_TRUE(network_words(parsed("203.0.113.1,203.0.113.2,203.0.113.3", {}), answers).empty());
    EXPECT_TRUE(network_words(parsed("203.0.113.1", {}), answers).empty());
    EXPECT_TRUE(
        network_words(parsed("203.0.113.1,203.0.113.2", {"--mca", "btl_tcp_if_include", "eth0"}),
                      answers)
            .empty());
}

}  // namespace
}  // namespace sotto::cli
