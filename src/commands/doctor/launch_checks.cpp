#include "commands/doctor/launch_checks.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

#include "core/output.hpp"
#include "core/stopwatch.hpp"
#include "net/mpi_network.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// The shell command for a job of two ranks. @param launcher quoted for a shell.
std::string trial_command(const std::string& launcher, const std::string& program) {
    const std::string& flags = launch_words().oversubscribe;
    return fmt::format("{}{}{} -n 2 {} doctor", launcher, flags.empty() ? "" : " ", flags, program);
}

std::string try_it() {
    return fmt::format("try `{}` by hand",
                       trial_command(launch_words().launchers.front(), "sotto"));
}

struct CommandResult {
    int exit_code = -1;
    std::string output;
};

CommandResult run_shell(const std::string& command) {
    CommandResult result;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> buffer{};
    for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        result.output.append(buffer.data(), count);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
}

std::optional<fs::path> program_in_path(const std::string& name) {
    std::istringstream folders(environment("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
        if (fs::is_regular_file(candidate) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

std::optional<fs::path> find_mpirun() {
    for (const std::string& name : launch_words().launchers)
        if (auto found = program_in_path(name)) return found;
    return std::nullopt;
}

/// The first "1.2" or "1.2.3" in a text.
std::string version_in(const std::string& text) {
    static const std::regex version(R"(\d+\.\d+(\.\d+)?)");
    std::smatch match;
    return std::regex_search(text, match, version) ? match.str() : "";
}

/// The first lines of a launcher's message, joined.
std::string summary_of(const std::string& message) {
    std::istringstream lines(message);
    std::string text;
    for (std::string line; std::getline(lines, line) && text.size() < 250;) {
        if (line.find_first_not_of("-=* \t\r") == std::string::npos) continue;
        if (!text.empty()) text += ' ';
        text += line;
    }
    return text.empty() ? "no message" : text;
}

/// The check that follows from the trial job's report.
DoctorCheck check_of_report(const nlohmann::json& report) {
    const int ranks = report.value("ranks", 0);
    if (ranks != 2)
        return {"exchange",
                false,
                fmt::format("a trial job of 2 ranks came up as single processes of {} rank", ranks),
                "use the mpirun of the MPI library sotto is linked with"};
    for (const auto& check : report.at("checks"))
        if (check.at("name") == "exchange")
            return {"exchange",
                    check.at("ok"),
                    "trial job: " + check.at("found").get<std::string>(),
                    check.at("fix")};
    return {"exchange", false, "the trial job made another report", try_it()};
}

}  // namespace

DoctorCheck check_mpirun() {
    const std::string library = MpiSession::library_version();
    const std::string fix = is_open_mpi()
                                ? "install package openmpi-bin, or put the mpirun of this MPI "
                                  "library first in PATH"
                                : "put the mpirun of this MPI library first in PATH";
    const auto mpirun = find_mpirun();
    if (!mpirun)
        return {"launcher",
                false,
                fmt::format("none of {} is in PATH", fmt::join(launch_words().launchers, ", ")),
                fix};
    const std::string answer =
        run_shell(shell_quoted(*mpirun) + " --version 2>&1 </dev/null").output;
    std::string described = answer.substr(0, answer.find('\n'));
    if (version_in(described).empty()) described += ' ' + version_in(answer);  // on a later line
    if (is_open_mpi(answer) != is_open_mpi(library) || version_in(answer) != version_in(library))
        return {"launcher",
                false,
                fmt::format("{} is '{}', but sotto is linked with '{}': jobs would fall apart "
                            "into single processes",
                            mpirun->string(),
                            described,
                            library.substr(0, library.find(','))),
                fix};
    return {
        "launcher", true, fmt::format("{}, {}", mpirun->string(), described), launch_words().start};
}

DoctorCheck check_trial_job() {
    const auto mpirun = find_mpirun();
    if (!mpirun) return {"exchange", false, "not tried: there is no mpirun", "see launcher"};
    std::error_code failure;
    const fs::path self = fs::read_symlink("/proc/self/exe", failure);
    if (failure)
        return {"exchange", false, "not tried: this program's file is not known", try_it()};
    // check_root tells whether root may start jobs.
    const std::string command = fmt::format(
        "MPIEXEC_TIMEOUT=30 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {} --quiet "
        "--json - </dev/null",
        trial_command(shell_quoted(*mpirun), shell_quoted(self)));
    const CommandResult result = run_shell(command + " 2>/dev/null");
    const auto json = nlohmann::json::parse(result.output, nullptr, false);
    if (!json.is_discarded() && json.is_object()) return check_of_report(json);
    const CommandResult again = run_shell(command + " 2>&1 >/dev/null");
    return {"exchange",
            false,
            fmt::format("a trial job of 2 ranks failed (exit code {}): {}",
                        result.exit_code,
                        summary_of(again.output)),
            try_it()};
}

bool is_open_mpi(const std::string& text) { return text.find("Open MPI") != std::string::npos; }

bool is_open_mpi() { return is_open_mpi(MpiSession::library_version()); }

const LaunchWords& launch_words(const std::string& library) {
    static const LaunchWords open_mpi = [] {
        LaunchWords words;
        words.launchers = {"mpirun", "mpiexec"};
        words.oversubscribe = "--oversubscribe --bind-to none";
        words.network =
            "--mca btl_tcp_if_include NETWORK/BITS --mca oob_tcp_if_include NETWORK/BITS";
        words.start = "mpirun -n N sotto train; more ranks than cores: " + words.oversubscribe +
                      "; several hosts: --hostfile FILE " + words.network +
                      "; deploy/mpirun sets all of it";
        words.no_shared_reads = "OMPI_MCA_btl_vader_single_copy_mechanism=none";
        return words;
    }();
    static const LaunchWords hydra = [] {
        LaunchWords words;
        words.launchers = {"mpiexec.hydra", "mpiexec", "mpirun"};
        words.network = "-iface DEVICE -genv UCX_NET_DEVICES DEVICE";
        words.start =
            "mpiexec.hydra -n N sotto train, also with more ranks than cores; several "
            "hosts: -f FILE (HOST:RANKS a line) " +
            words.network;
        return words;
    }();
    return is_open_mpi(library) ? open_mpi : hydra;
}

const LaunchWords& launch_words() { return launch_words(MpiSession::library_version()); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool waiting_ranks_yield() {
    constexpr std::array<std::string_view, 7> off{"0", "false", "no", "f", "n", "off", "disabled"};
    return std::ranges::find(off, environment("OMPI_MCA_mpi_yield_when_idle")) == off.end();
}

}  // namespace sotto
