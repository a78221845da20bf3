#include "commands/supervise/supervise_command.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "commands/supervise/launched_job.hpp"
#include "core/files.hpp"
#include "core/host.hpp"
#include "core/stopwatch.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

using test::TemporaryFolder;

TEST(Journal, KeepsLinesWithTheTime) {
    const test::TemporaryFolder folder;
    const Journal journal(folder.path("restarts.txt"), true);
    EXPECT_FALSE(journal.is_there());
    journal.note("one");
    journal.note("two");
    EXPECT_TRUE(journal.is_there());
    const std::string text = read_file(journal.file());
    // 2026-11-20T12:00:00+0000 one
    constexpr std::size_t time = 24;
    EXPECT_EQ(text.substr(time, 5), " one\n");
    EXPECT_TRUE(text.ends_with(" two\n"));
    EXPECT_EQ(text[10], 'T');
}

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

using Words = std::vector<std::string>;

TEST(ReasonToRestart, IsThereWhereAnotherStartMayMendIt) {
    for (const int code : {5, 137, 205, 255}) EXPECT_FALSE(reason_to_restart(code).empty()) << code;
    for (const int code : {0, 1, 2, 3, 4, 6, 7, 8, 9, 130, 139, 143})
        EXPECT_TRUE(reason_to_restart(code).empty()) << code;
}

/// Instead of sotto, a script that keeps what it was started with.
class SupervisedScript : public testing::Test {
  protected:
    [[nodiscard]] SuperviseResult run(const std::string& script,
                                      const Words& options,
                                      int restarts) {
        forget_stop_requests();
        const std::string program = folder_.write(
            "program", "#!/bin/sh\necho \"$*\" >>" + folder_.path("starts") + "\n" + script);
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        Words words{program, "train"};
        words.insert(words.end(), options.begin(), options.end());
        SuperviseConfig config;
        config.max_restarts = restarts;
        config.delay = {0, 0};
        config.host_wait = 0;
        config.quiet = true;
        testing::internal::CaptureStderr();
        SuperviseResult result =
            Supervisor(config, parse_launcher(words, {"train"}), folder_.path("")).run();
        (void)testing::internal::GetCapturedStderr();
        return result;
    }
    [[nodiscard]] Words starts() const {
        Words lines;
        std::ifstream file(folder_.path("starts"));
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }

    test::TemporaryFolder folder_;
    std::string run_ = folder_.path("run");
};

TEST_F(SupervisedScript, GoesOnWithItsRunOnceThatHasBegun) {
    // The first start comes to no run, the second to one, the third ends it.
    const std::string script = "cd " + run_ +
                               "; [ -e config.ini ] && exit 0; [ -e tried ] && : >config.ini; "
                               ": >tried; exit 5\n";
    const SuperviseResult result =
        run(script, {"--epsilon", "3", "--quiet", "--run-directory", run_}, 5);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.starts, 3);
    const std::string first =
        "train --epsilon 3 --quiet --run-directory " + run_ + " --checkpoint-every 100";
    EXPECT_EQ(starts(), (Words{first, first, "train --resume " + run_ + " --quiet"}));
}

TEST_F(SupervisedScript, EndsWithTheLastCodeWhereNoRestartIsLeft) {
    const SuperviseResult result = run("exit 137\n", {"--run-directory", run_}, 2);
    EXPECT_EQ(result.exit_code, 137);
    EXPECT_EQ(result.starts, 3);
    EXPECT_NE(read_file(run_ + "/restarts.txt").find("all 2 restarts are used up"),
              std::string::npos);
}

TEST_F(SupervisedScript, SaysHowToGoOnWithARunThatFailed) {
    for (const char* code : {"137", "9"}) {
        const std::string run = run_ + code;
        (void)this->run(": >" + run + "/config.ini; exit " + code + "\n",
                        {"--quiet", "--run-directory", run},
                        0);
        const std::string journal = read_file(run + "/restarts.txt");
        EXPECT_NE(journal.find("to go on: sotto supervise -- " + folder_.path("program") +
                               " train --resume " + run + " --quiet\n"),
                  std::string::npos)
            << journal;
    }
    (void)run("exit 9\n", {"--run-directory", run_}, 0);
    EXPECT_EQ(read_file(run_ + "/restarts.txt").find("to go on"), std::string::npos)
        << "it never began";
}

TEST_F(SupervisedScript, IsNotStartedAgainWhereNothingMendsIt) {
    for (const int code : {4, 7, 8, 9}) {
        const SuperviseResult result =
            run("exit " + std::to_string(code) + "\n", {"--resume", run_}, 2);
        EXPECT_EQ(result.exit_code, code);
        EXPECT_EQ(result.starts, 1);
    }
}

TEST_F(SupervisedScript, IsDoneWhereALaterStartFindsItComplete) {
    const SuperviseResult result =
        run(": >" + run_ + "/config.ini; [ \"$2\" = --resume ] && exit 7; exit 137\n",
            {"--run-directory", run_},
            2);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.starts, 2);
}

TEST_F(SupervisedScript, EndsAtItsCheckpointWhereRepeatedRoundsHaveUsedUpTheBudget) {
    const SuperviseResult result =
        run(": >" + run_ +
                "/config.ini; case \"$*\" in *--finish) exit 0;; *--resume*) exit 4;; esac; "
                "exit 137\n",
            {"--identity", "id%r", "--roster", "r", "--run-directory", run_},
            2);
    EXPECT_EQ(result.exit_code, 0);
    const std::string again = "train --resume " + run_ + " --identity=id%r";
    EXPECT_EQ(starts().size(), 3U);
    EXPECT_EQ(starts()[1], again);
    EXPECT_EQ(starts()[2], again + " --finish");
    EXPECT_NE(read_file(run_ + "/restarts.txt").find("exit code 4, a budget does not allow"),
              std::string::npos);
}

TEST_F(SupervisedScript, IsNotTrainedAgainWhereItsDirectoryIsGone) {
    const SuperviseResult result =
        run("rm -r " + run_ + "; exit 5\n", {"--run-directory", run_}, 2);
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_EQ(result.starts, 1);
}

TEST(Supervisor, RefusesWhatItCannotTakeUp) {
    const test::TemporaryFolder folder;
    const auto refusal = [&](const Words& words, SuperviseConfig config = {}) {
        return test::message_of<ConfigError>([&] {
            (void)Supervisor(config, parse_launcher(words, {"train", "doctor"}), folder.path(""));
        });
    };
    EXPECT_NE(refusal({"mpirun", "sotto", "doctor"}).find("only a training"), std::string::npos);
    EXPECT_NE(refusal({"sotto", "train", "--dry-run"}).find("--dry-run"), std::string::npos);
    SuperviseConfig config;
    config.min_agents = 2;
    EXPECT_NE(refusal({"mpirun", "sotto", "train"}, config).find("needs the hosts' names"),
              std::string::npos);
}

TEST(LeavingAgents, AreAllWhereNoRunHasBegun) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(still_there(folder.path(""), {5, 2, 5}), (std::vector<int>{2, 5}));
}

TEST(LeavingAgents, CannotBeToldWithoutARun) {
    const test::TemporaryFolder folder;
    EXPECT_THROW((void)remaining_agents(folder.path(""), {"host"}, {}), DataError);
}

}  // namespace
}  // namespace sotto::cli
