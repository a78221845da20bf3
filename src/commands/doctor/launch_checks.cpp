#include "commands/doctor/launch_checks.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>

#include "commands/doctor/mpi_settings.hpp"
#include "core/shell_words.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// A job of two ranks of this program. @param launcher as a shell takes it.
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

/// The first "1.2" or "1.2.3" of a text.
std::string version_in(const std::string& text) {
    static const std::regex version(R"(\d+\.\d+(\.\d+)?)");
    std::smatch match;
    return std::regex_search(text, match, version) ? match.str() : "";
}

/// The first lines of a launcher's message, as one.
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

/// What the trial job found out about itself.
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
    // Whether root may start jobs is a check of its own.
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

}  // namespace sotto
