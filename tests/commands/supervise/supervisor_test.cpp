#include "commands/supervise/supervisor.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "commands/supervise/stop_requests.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto::cli {
namespace {

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
    EXPECT_NE(read_file(run_ + "/restarts.txt").find("no restart is left of 2"), std::string::npos);
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

}  // namespace
}  // namespace sotto::cli
