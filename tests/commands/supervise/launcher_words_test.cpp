#include "commands/supervise/launcher_words.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto::cli {
namespace {

using test::message_of;
using test::TemporaryFolder;
using Words = std::vector<std::string>;

const Words known_commands{"doctor", "train"};

TEST(LauncherWords, AreTakenApartAndPutTogether) {
    const LauncherWords words = parse_launcher({"/opt/mpirun",
                                                "-x",
                                                "A",
                                                "-np",
                                                "4",
                                                "--mca",
                                                "plm_rsh_agent",
                                                "rsh -q",
                                                "--mca",
                                                "odls_base_sigkill_timeout",
                                                "7",
                                                "--host",
                                                "b:2,a:2",
                                                "sotto",
                                                "train",
                                                "-n",
                                                "1"},
                                               known_commands);
    EXPECT_TRUE(words.is_mpirun());
    EXPECT_EQ(words.ranks, 4);
    EXPECT_EQ(words.remote_shell, "rsh -q");
    EXPECT_EQ(words.kill_seconds, 7);
    EXPECT_FALSE(words.names_network);
    EXPECT_EQ(words.program, "sotto");
    EXPECT_EQ(words.sotto, (Words{"train", "-n", "1"}));
    EXPECT_EQ(named_hosts(words), (Words{"a", "b"}));
    EXPECT_EQ(composed(words, {"--more"}),
              (Words{"/opt/mpirun",
                     "-n",
                     "4",
                     "-x",
                     "A",
                     "--mca",
                     "plm_rsh_agent",
                     "rsh -q",
                     "--mca",
                     "odls_base_sigkill_timeout",
                     "7",
                     "--host",
                     "b:2,a:2",
                     "-x",
                     "SOTTO_STOPS_IN_TIME",
                     "--more",
                     "sotto",
                     "train",
                     "-n",
                     "1"}));
}

TEST(LauncherWords, NeedNoLauncherAndKnowOthersThanMpirun) {
    const LauncherWords alone = parse_launcher({"sotto", "train"}, known_commands);
    EXPECT_TRUE(alone.launcher.empty());
    EXPECT_FALSE(alone.is_mpirun());
    EXPECT_EQ(composed(alone, {"--output-filename", "logs"}), (Words{"sotto", "train"}));
    const LauncherWords slurm =
        parse_launcher({"srun", "-n", "2", "sotto", "train"}, known_commands);
    EXPECT_FALSE(slurm.is_mpirun());
    EXPECT_EQ(composed(slurm), (Words{"srun", "-n", "2", "sotto", "train"}));
}

TEST(LauncherWords, TakeSettingsOfTheEnvironmentThatTheyLeaveOpen) {
    ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "9", 1);
    ::setenv("OMPI_MCA_btl_tcp_if_include", "eth0", 1);
    const LauncherWords words = parse_launcher({"mpirun", "sotto", "train"}, known_commands);
    const LauncherWords given = parse_launcher(
        {"mpirun", "-mca", "odls_base_sigkill_timeout", "2", "sotto", "train"}, known_commands);
    ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
    ::unsetenv("OMPI_MCA_btl_tcp_if_include");
    EXPECT_EQ(words.kill_seconds, 9);
    EXPECT_TRUE(words.names_network);
    EXPECT_EQ(given.kill_seconds, 2);
}

TEST(LauncherWords, AreRefusedInOneLine) {
    const auto refusal = [](const Words& words) {
        return message_of<ConfigError>([&] { (void)parse_launcher(words, known_commands); });
    };
    EXPECT_NE(refusal({}).find("is missing after --"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "2", "sotto"}).find("is missing"), std::string::npos);
    EXPECT_NE(refusal({"train"}).find("is missing"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "two", "sotto", "train"}).find("'two'"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "0", "sotto", "train"}).find("'0'"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "sotto", "train", ":", "sotto", "train"}).find("':'"),
              std::string::npos);
}

TEST(LauncherWords, LeaveHostsOut) {
    const TemporaryFolder folder;
    const std::string file = folder.write("hosts", "# two\na slots=2\nb slots=1 # last\n\n");
    LauncherWords words =
        parse_launcher({"mpirun", "--hostfile", file, "sotto", "train"}, known_commands);
    EXPECT_EQ(named_hosts(words), (Words{"a", "b"}));
    leave_out(words, {"a"}, folder.path("shorter"));
    EXPECT_EQ(words.hostfile, folder.path("shorter"));
    EXPECT_EQ(read_file(folder.path("shorter")), "b slots=1 # last\n");
    EXPECT_EQ(named_hosts(words), Words{"b"});

    words = parse_launcher({"mpirun", "-H", "a:2,b,c:1", "sotto", "train"}, known_commands);
    leave_out(words, {"b"}, folder.path("none"));
    EXPECT_EQ(words.hosts, "a:2,c:1");
}

}  // namespace
}  // namespace sotto::cli
