#include "commands/doctor/doctor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <utime.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/program.hpp"
#include "commands/doctor/environment_fixture.hpp"
#include "commands/doctor/findings_fixtures.hpp"
#include "commands/doctor/launch_checks.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "net/mpi_network.hpp"
#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {
// `sotto doctor` as a user runs it, on a machine that is ready and on one that is not.

namespace {

using Json = nlohmann::json;

const Arguments json_only{"doctor", "--quiet", "--json", "-"};

/// Words in front of a command: `env NAME=VALUE` and the like.
Outcome run_with(const TempDir& directory, const Arguments& words, int ranks) {
    Arguments command = words;
    for (const auto& word : sotto_command(ranks, json_only)) command.push_back(word);
    Process process(command, directory.path());
    return process.wait();
}

/// The report; what holds for every report is checked on the way.
Json report_of(const Outcome& outcome) {
    EXPECT_TRUE(Json::accept(outcome.out)) << outcome.text();
    const Json json = Json::parse(outcome.out, nullptr, false);
    if (json.is_discarded()) return {};
    bool ok = true;
    std::set<std::string> names;
    for (const auto& check : json.at("checks")) {
        EXPECT_TRUE(names.insert(check.at("name")).second) << check;
        EXPECT_FALSE(check.at("found").get<std::string>().empty()) << check;
        EXPECT_TRUE(check.at("ok").get<bool>() || !check.at("fix").get<std::string>().empty())
            << "a failed check says what to do: " << check;
        ok = ok && check.at("ok").get<bool>();
    }
    EXPECT_GE(names.size(), 15U);
    EXPECT_EQ(json.at("ok"), ok);
    EXPECT_EQ(outcome.exit_code, ok ? 0 : 1) << outcome.text();
    return json;
}

Json check_named(const Json& report, const std::string& name) {
    for (const auto& check : report.value("checks", Json::array()))
        if (check.at("name") == name) return check;
    ADD_FAILURE() << "no check " << name;
    return {{"ok", nullptr}, {"found", ""}, {"fix", ""}};
}

void expect_failed(const Json& report, const std::string& name, const std::string& words) {
    const Json check = check_named(report, name);
    EXPECT_EQ(check.at("ok"), false) << check;
    EXPECT_NE(check.at("found").get<std::string>().find(words), std::string::npos) << check;
}

TEST(Doctor, ReportsDocumentedKeysAloneAndThatAJobOfTwoRanksWorks) {
    const TempDir directory;
    const Json report = report_of(run_with(directory, {}, one_process));
    EXPECT_EQ(report.at("launched"), false);
    EXPECT_EQ(report.at("ranks"), 1);
    for (const char* name : {"launcher",
                             "exchange",
                             "root",
                             "eigenvalues",
                             "libsodium",
                             "noise-bits",
                             "temporary-directory",
                             "run-directory"})
        EXPECT_EQ(check_named(report, name).at("ok"), true) << check_named(report, name);
    EXPECT_NE(check_named(report, "exchange").at("found").get<std::string>().find("2 ranks"),
              std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "nothing is left behind";
}

TEST(Doctor, ReportsOnceForAllRanksUnderMpirun) {
    const TempDir directory;
    const Json report = report_of(run_with(directory, {}, 3));
    EXPECT_EQ(report.at("launched"), true);
    EXPECT_EQ(report.at("ranks"), 3);
    ASSERT_EQ(report.at("hosts").size(), 1U);
    EXPECT_EQ(report.at("hosts")[0].at("ranks"), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(check_named(report, "launcher").at("found"), "3 ranks announced, 3 started");
    EXPECT_EQ(check_named(report, "exchange").at("ok"), true);
    EXPECT_EQ(check_named(report, "noise-bits").at("ok"), true);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Doctor, PrintsATableWithEveryCheckOnce) {
    const TempDir directory;
    for (const int ranks : {one_process, 3}) {
        const Outcome outcome = run_sotto(directory, ranks, {"doctor", "--json", "report.json"});
        const auto lines = lines_of(outcome.out);
        for (const auto& check : json_of(directory / "report.json").at("checks")) {
            const auto said = std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
                return line.find(check.at("found").template get<std::string>()) !=
                       std::string::npos;
            });
            EXPECT_EQ(said, 1) << check << outcome.text();
        }
    }
}

TEST(Doctor, FindsThatKernelsAreOlderThanTheProcessorOnlyWhereTheUserChoseThem) {
    const TempDir directory;
    const auto kernels = [&](const Arguments& words) {
        return check_named(report_of(run_with(directory, words, one_process)), "blas-kernels");
    };
    const Json chosen = kernels({"env", "-u", "OPENBLAS_CORETYPE"});
    if (chosen.at("found") == "no OpenBLAS in use") GTEST_SKIP();
    EXPECT_EQ(chosen.at("fix"), "") << chosen;
    const Json old = kernels({"env", "OPENBLAS_CORETYPE=Prescott"});
    EXPECT_EQ(old.at("ok"), true) << old;
    EXPECT_TRUE(old.at("found").get<std::string>().starts_with("OpenBLAS: Prescott kernels (SSE)"))
        << old;
    EXPECT_EQ(
        old.at("fix").get<std::string>().find("without OPENBLAS_CORETYPE") == std::string::npos,
        chosen.at("found") == old.at("found"))
        << old;
}

TEST(Doctor, FindsThatThereIsNoMpirun) {
    const TempDir directory;
    const Json report =
        report_of(run_with(directory, {"/usr/bin/env", "PATH=/nonexistent"}, one_process));
    expect_failed(report, "launcher", "in PATH");
    expect_failed(report, "exchange", "not tried");
}

TEST(Doctor, FindsAnMpirunOfAnotherLibraryAndAJobThatFails) {
    const TempDir directory;
    for (const char* name : {"mpirun", "mpiexec.hydra"}) {
        const std::string fake = directory.write(
            name,
            "#!/bin/sh\n[ $1 = --version ] && echo 'mpirun (Open MPI) 1.0.1' && exit\n"
            "echo ------- >&2; echo 'no slots today' >&2; exit 9\n");
        std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    }
    const Json report = report_of(run_with(
        directory, {"env", "PATH=" + directory.path().string() + ":/usr/bin:/bin"}, one_process));
    expect_failed(report, "launcher", "1.0.1");
    expect_failed(report, "exchange", "exit code 9): no slots today");
}

TEST(Doctor, FindsThatTheTemporaryDirectoryIsMissing) {
    const TempDir directory;
    // mpirun, as root, would make a folder that is only missing.
    const std::string missing = directory.write("file", "") + "/tmp";
    const Json report = report_of(run_with(directory, {"env", "TMPDIR=" + missing}, one_process));
    expect_failed(report, "temporary-directory", missing + " cannot be written");
}

TEST(Doctor, FindsThatRunsIsNotAFolder) {
    const TempDir directory;
    directory.write("runs", "");
    expect_failed(
        report_of(run_with(directory, {}, one_process)), "run-directory", "is not a directory");
}

TEST(Doctor, FindsThatRootMayNotStartJobs) {
    if (!is_open_mpi()) GTEST_SKIP() << "a rule of Open MPI";
    if (::geteuid() != 0) GTEST_SKIP() << "not running as root";
    const TempDir directory;
    expect_failed(report_of(run_with(
                      directory, {"env", "-u", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}, one_process)),
                  "root",
                  "mpirun refuses");
}

TEST(Doctor, FindsThatKeysCannotBeLocked) {
    const TempDir directory;
    Arguments words{"prlimit", "--memlock=0"};
    // Root is above the limit while it has this capability.
    if (::geteuid() == 0) words.insert(words.begin(), {"setpriv", "--bounding-set=-ipc_lock"});
    const Outcome outcome = run_with(directory, words, one_process);
    if (outcome.exit_code > 1) GTEST_SKIP() << "limits cannot be changed here: " << outcome.err;
    expect_failed(report_of(outcome), "locked-memory", "limit 0 KiB");
}

TEST(Doctor, FindsRanksThatDoNotYieldAlthoughTheyShareCores) {
    if (!is_open_mpi()) GTEST_SKIP() << "a setting of Open MPI";
    const TempDir directory;
    const int ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
    if (ranks > 9) GTEST_SKIP() << "too many cores to share";
    const Json report =
        report_of(run_with(directory, {"env", "OMPI_MCA_mpi_yield_when_idle=0"}, ranks));
    expect_failed(report, "cores", "do not yield");
    EXPECT_NE(check_named(report, "cores")
                  .at("found")
                  .get<std::string>()
                  .find(fmt::format("{} ranks on {} core", ranks, ranks - 1)),
              std::string::npos)
        << report;
}

TEST(Doctor, NamesTheRankAndItsHostWhereSomethingIsWrong) {
    const TempDir directory;
    Arguments command = sotto_command(2, json_only);
    const std::string missing = directory.write("file", "") + "/tmp";
    const Arguments third{":", "-n", "1", "env", "TMPDIR=" + missing};
    command.insert(command.end(), third.begin(), third.end());
    for (const auto& word : sotto_command(one_process, json_only)) command.push_back(word);
    Process process(command, directory.path());
    const Json report = report_of(process.wait());
    EXPECT_EQ(report.at("ranks"), 3);
    const std::string host = report.at("hosts")[0].at("host");
    expect_failed(report, "temporary-directory", "rank 2 on " + host + ": " + missing);
}

TEST(Doctor, FindsAJobThatFellApartIntoSingleProcesses) {
    const TempDir directory;
    const Outcome outcome = run_with(
        directory, {"env", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=0"}, one_process);
    expect_failed(report_of(outcome), "launcher", "announced 4 ranks but MPI sees 1");
    const Outcome silent = run_with(
        directory, {"env", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2"}, one_process);
    EXPECT_NE(silent.exit_code, 0);
    EXPECT_GE(silent.seconds, 1) << "a launcher may end the job before rank 0 has said why";
    EXPECT_TRUE(silent.out.empty() && error_lines(silent.err).empty()) << silent.text();
}

TEST(Doctor, FindsSharedMemoryFilesOfEndedJobs) {
    const TempDir directory;
    const std::string file =
        fmt::format("/dev/shm/vader_segment.sotto-test.{}", static_cast<long>(::getpid()));
    if (std::FILE* created = std::fopen(file.c_str(), "w"))
        std::fclose(created);
    else
        GTEST_SKIP() << "/dev/shm cannot be written";
    const utimbuf long_ago{1000000000, 1000000000};
    ::utime(file.c_str(), &long_ago);
    const Json report = report_of(run_with(directory, {}, one_process));
    std::filesystem::remove(file);
    const Json check = check_named(report, "leftover-segments");
    EXPECT_NE(check.at("found").get<std::string>().find("of ended jobs"), std::string::npos);
    EXPECT_FALSE(check.at("fix").get<std::string>().empty());
}

TEST(Doctor, RefusesAnUnknownOptionWithOneLine) {
    const TempDir directory;
    for (const int ranks : {one_process, 3}) {
        const Outcome outcome = run_sotto(directory, ranks, {"doctor", "--jsn"});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
    }
}

}  // namespace
}  // namespace sotto::test

namespace sotto {
namespace {

using test::EnvironmentVariable;
using test::findings;
using test::four_ranks_on_two_hosts;
using test::TemporaryFolder;

constexpr const char* yield = "OMPI_MCA_mpi_yield_when_idle";

Placement of_ranks(int ranks) {
    Placement placement;
    placement.launched = true;
    placement.ranks_on_host = ranks;
    return placement;
}

TEST(MachineChecks, RanksShareCoresOnlyIfTheyYield) {
    EXPECT_EQ(check_cores({}).found,
              is_open_mpi() ? "1 core; mpirun needs --oversubscribe --bind-to none for more ranks"
                            : "1 core; the launcher starts more ranks without a flag");
    EXPECT_EQ(check_cores(of_ranks(1)).found, "1 rank on 1 core");
    {
        const EnvironmentVariable on(yield, "1");
        const Finding shared = check_cores(of_ranks(2));
        EXPECT_TRUE(shared.ok);
        EXPECT_EQ(shared.found, "2 ranks on 1 core: they take turns, waiting ranks yield");
    }
    if (!is_open_mpi()) GTEST_SKIP() << "a setting of Open MPI";
    const EnvironmentVariable off(yield, "0");
    const Finding spinning = check_cores(of_ranks(2));
    EXPECT_FALSE(spinning.ok);
    EXPECT_FALSE(spinning.fix.empty());
    EXPECT_TRUE(check_cores(of_ranks(1)).ok);
    EXPECT_NE(check_yielding({}).found.find("is off (0)"), std::string::npos);
}

TEST(MachineChecks, RootNeedsTwoVariablesToStartJobs) {
    if (::geteuid() != 0) {
        EXPECT_EQ(check_root({}).found, "not running as root");
        return;
    }
    if (!is_open_mpi()) GTEST_SKIP() << "a rule of Open MPI";
    const EnvironmentVariable allow("OMPI_ALLOW_RUN_AS_ROOT", "1");
    {
        const EnvironmentVariable confirm("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        EXPECT_TRUE(check_root({}).ok);
    }
    const EnvironmentVariable none("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", std::nullopt);
    EXPECT_FALSE(check_root({}).ok);
    EXPECT_TRUE(check_root(of_ranks(1)).ok) << "the job is there";
}

TEST(MachineChecks, SharedMemoryMustHoldASegmentARank) {
    if (!is_open_mpi()) GTEST_SKIP() << "a need of Open MPI";
    // 4 MiB each: more than any machine has.
    const Finding finding = check_shared_memory(of_ranks(1 << 28));
    EXPECT_FALSE(finding.ok);
    EXPECT_FALSE(finding.fix.empty());
}

TEST(MachineChecks, MemoryThatCannotBeLockedHasAFix) {
    const Finding finding = check_locked_memory({});
    EXPECT_NE(finding.found.find("256 KiB for 8128 keys"), std::string::npos);
    EXPECT_EQ(finding.fix.empty(), finding.ok);
    EXPECT_TRUE(check_leftover_segments({}).ok) << "leftovers are advice";
}

namespace fs = std::filesystem;

TEST(FolderChecks, LeaveNothingBehind) {
    const TemporaryFolder folder;
    const fs::path path = folder.path("room");
    fs::create_directories(path);
    const Finding finding = check_writable(path, "make room");
    EXPECT_TRUE(finding.ok) << finding.found;
    EXPECT_EQ(finding.fix, "");
    EXPECT_TRUE(fs::is_empty(path));
    const Finding missing = check_writable(folder.path("missing"), "make room");
    EXPECT_FALSE(missing.ok);
    EXPECT_EQ(missing.fix, "make room");
    EXPECT_NE(missing.found.find("No such file"), std::string::npos) << missing.found;
}

TEST(FolderChecks, LookAtTheTemporaryFolderOfTheEnvironment) {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "");
    const EnvironmentVariable set("TMPDIR", file + "/tmp");
    const Finding finding = check_temporary_directory({});
    EXPECT_FALSE(finding.ok);
    EXPECT_TRUE(finding.found.starts_with(file + "/tmp cannot be written")) << finding.found;
    const EnvironmentVariable none("TMPDIR", std::nullopt);
    EXPECT_TRUE(check_temporary_directory({}).found.starts_with("/tmp "));
}

TEST(FolderChecks, MeasureSpace) {
    EXPECT_FALSE(free_mib("/no/such/folder"));
    EXPECT_TRUE(free_mib("/"));
    EXPECT_EQ(size_text(512), "512 MiB");
    EXPECT_EQ(size_text(10 * 1024), "10 GiB");
    EXPECT_EQ(size_text(2047.6), "2048 MiB");
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(LibraryChecks, PassOnTheMachineThatRunsTheTests) {
    for (const auto check : {check_eigen, check_eigenvalues, check_libsodium, check_simd}) {
        const Finding finding = check({});
        EXPECT_TRUE(finding.ok) << finding.found;
        EXPECT_FALSE(finding.found.empty());
    }
}

TEST(LibraryChecks, SayWhatIsUsed) {
    EXPECT_TRUE(contains(check_program({}).found, build_version()));
    const std::string library = check_mpi_library({}).found;
    EXPECT_TRUE(MpiSession::library_version().starts_with(library));
    EXPECT_FALSE(library.empty());
    EXPECT_TRUE(contains(check_eigenvalues({}).found, "correct to"));
}

TEST(LibraryChecks, DrawTheSameBitsEveryTime) {
    const Finding first = check_noise_bits({}), again = check_noise_bits({});
    EXPECT_TRUE(first.ok) << first.found;
    EXPECT_EQ(first.found, again.found);
    EXPECT_TRUE(first.found.starts_with("test stream "));
}

TEST(LibraryChecks, NameTheKernelsOfBlasAndAdviseNewerOnes) {
    const std::string before = blas_kernels();
    const auto newer = newer_kernels("Prescott", processor_instructions());
    if (before.empty() || !newer || !set_blas_kernels("Prescott"))
        GTEST_SKIP() << "no OpenBLAS with kernels for several processors, or an old processor";
    const Finding old = check_blas_kernels({});
    set_blas_kernels(*newer);
    const Finding chosen = check_blas_kernels({});
    set_blas_kernels(before);
    EXPECT_TRUE(old.ok);
    EXPECT_TRUE(contains(old.found, "Prescott kernels (SSE); the processor has ")) << old.found;
    EXPECT_TRUE(contains(old.fix, "products are faster")) << old.fix;
    EXPECT_FALSE(contains(chosen.found, "the processor has")) << chosen.found;
    EXPECT_EQ(chosen.fix, "");
}

TEST(LibraryChecks, AdviseFewerThreadsOnlyWhereProcessesShareCores) {
    Placement crowded;
    crowded.ranks_on_host = 1000;
    crowded.cores_on_host = 1;
    const Finding finding = check_blas_threads(crowded);
    EXPECT_TRUE(finding.ok);
    // With one thread a process there is nothing to advise.
    EXPECT_EQ(finding.fix.empty(), !contains(finding.found, "processes on 1 core"));
    EXPECT_EQ(check_blas_threads({}).fix, "");
}

TEST(MergedFindings, AreThoseOfOneRankWhenAllAgree) {
    const auto merged = merge_findings(four_ranks_on_two_hosts());
    ASSERT_EQ(merged.size(), 2U);
    for (const auto& check : merged) EXPECT_TRUE(check.ok);
    EXPECT_EQ(merged[0].found, "can be written");
    EXPECT_EQ(merged[0].name, "folder");
    EXPECT_EQ(merged[0].fix, "");
}

TEST(MergedFindings, NameRankAndHostOfAFailure) {
    for (std::size_t failing = 0; failing < 4; ++failing) {
        auto ranks = four_ranks_on_two_hosts();
        ranks[failing].checks[0] = {"folder", false, "is full", "make room", false};
        const auto merged = merge_findings(ranks);
        EXPECT_FALSE(merged[0].ok);
        EXPECT_EQ(merged[0].found,
                  "rank " + std::to_string(failing) + " on " + (failing < 2 ? "alpha" : "beta") +
                      ": is full");
        EXPECT_EQ(merged[0].fix, "make room");
        EXPECT_TRUE(merged[1].ok);
    }
}

TEST(MergedFindings, GroupRanksOfAHostThatFailAlike) {
    auto ranks = four_ranks_on_two_hosts();
    for (auto& one : ranks) one.checks[0] = {"folder", false, "is full", "make room", false};
    EXPECT_EQ(merge_findings(ranks)[0].found,
              "ranks 0-1 on alpha: is full; ranks 2-3 on beta: is full");
}

TEST(MergedFindings, OfHundredsOfRanksStayOneReadableLine) {
    std::vector<RankFindings> ranks;
    for (int rank = 0; rank < 300; ++rank) {
        ranks.push_back(findings(rank, "host" + std::to_string(rank)));
        ranks.back().checks[0] = {"folder", false, "is full", "make room", false};
    }
    const std::string found = merge_findings(ranks)[0].found;
    EXPECT_LT(found.size(), 200U);
    EXPECT_NE(found.find("and 296 more"), std::string::npos) << found;
}

TEST(MergedFindings, ListHostsThatDifferWithoutFailing) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[2].checks[0].found = ranks[3].checks[0].found = "can be written, slowly";
    ranks[3].checks[0].fix = "buy a disk";
    const auto merged = merge_findings(ranks);
    EXPECT_TRUE(merged[0].ok);
    EXPECT_EQ(merged[0].found,
              "rank 0 on alpha: can be written; rank 2 on beta: can be written, slowly");
    EXPECT_EQ(merged[0].fix, "buy a disk") << "advice of one rank is advice";
}

TEST(MergedFindings, FailWhereRanksMustAgreeButDoNot) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[3].checks[1].found = "1.1";
    const auto merged = merge_findings(ranks);
    EXPECT_FALSE(merged[1].ok);
    EXPECT_EQ(merged[1].found, "ranks 0-1 on alpha: 1.0; rank 2 on beta: 1.0; rank 3 on beta: 1.1");
    EXPECT_FALSE(merged[1].fix.empty());
    EXPECT_TRUE(merged[0].ok);
}

TEST(MergedFindings, RefuseARankThatMadeOtherChecks) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[2].checks[1].name = "colour";
    EXPECT_THROW((void)merge_findings(ranks), DataError);
    ranks = four_ranks_on_two_hosts();
    ranks[2].checks.pop_back();
    EXPECT_THROW((void)merge_findings(ranks), DataError);
}

TEST(Findings, SurviveTheirWayToRankZero) {
    auto one = findings(3, "gamma");
    one.checks[0] = {"folder", false, "tab\t, quote \", newline\n, \xc3\xa9", "fix", true};
    const auto back = findings_from_json(to_json(one));
    EXPECT_EQ(back.placement.rank, 3);
    EXPECT_EQ(back.placement.host, "gamma");
    EXPECT_EQ(back.placement.cores_on_host, 2);
    ASSERT_EQ(back.checks.size(), 2U);
    EXPECT_EQ(back.checks[0].found, one.checks[0].found);
    EXPECT_FALSE(back.checks[0].ok);
    EXPECT_TRUE(back.checks[0].must_agree);
    one.checks[0].found = "not UTF-8: \xff";
    EXPECT_NO_THROW((void)findings_from_json(to_json(one)));
    EXPECT_THROW((void)findings_from_json("{"), DataError);
    EXPECT_THROW((void)findings_from_json("{\"rank\": 1}"), DataError);
}

TEST(Findings, WithNumbersOrNestingThatDoNotFitAreRefused) {
    const std::string good = to_json(RankFindings{});
    EXPECT_NO_THROW((void)findings_from_json(good));
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    for (const std::string& value : {std::string("1e300"), std::string("4294967296"), deep}) {
        std::string text = good;
        text.replace(text.find("\"rank\":0"), 8, "\"rank\":" + value);
        EXPECT_THROW((void)findings_from_json(text), DataError) << value.substr(0, 20);
    }
}

TEST(Ranges, AreShort) {
    EXPECT_EQ(ranges_text({}), "");
    EXPECT_EQ(ranges_text({4}), "4");
    EXPECT_EQ(ranges_text({0, 1, 2, 3, 7, 9, 10}), "0-3, 7, 9-10");
}

TEST(Report, SaysTheSameInJsonAndForPeople) {
    auto ranks = four_ranks_on_two_hosts();
    ranks[1].checks[0] = {"folder", false, "is full", "make room", false};
    const auto merged = merge_findings(ranks);
    const auto json = nlohmann::json::parse(doctor_report_json(ranks, merged));
    EXPECT_EQ(json.at("ok"), false);
    EXPECT_EQ(json.at("ranks"), 4);
    EXPECT_EQ(json.at("hosts").size(), 2U);
    EXPECT_EQ(json.at("hosts")[1].at("host"), "beta");
    EXPECT_EQ(json.at("hosts")[1].at("ranks"), (std::vector<int>{2, 3}));
    EXPECT_EQ(json.at("checks")[0].at("ok"), false);
    EXPECT_EQ(json.at("checks")[0].at("fix"), "make room");
    const std::string text = doctor_report_text(ranks, merged);
    for (const char* part : {"alpha: ranks 0-1",
                             "beta: ranks 2-3",
                             "FAIL  folder   rank 1 on alpha: is full",
                             "fix: make room",
                             "ok    version  1.0",
                             "1 of 2 checks failed"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace sotto
