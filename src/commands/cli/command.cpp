#include "commands/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "run/error_line.hpp"
#include "run/run_directory.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/launch_environment.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto::cli {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_stop(int signal) {
    stop_signal = signal;
    std::signal(signal, SIG_DFL);  // a second one ends the process at once
}

std::string program_help() {
    std::string text =
        "sotto: private peer-to-peer training over MPI\n\n"
        "usage: sotto <command> [options]\n"
        "       mpirun -n 20 sotto train [options]     every rank is one agent\n\n"
        "commands:\n";
    for (const auto& command : commands())
        text += fmt::format("  {:<8} {}\n", command.name, command.summary);
    text +=
        "\n`sotto <command> --help` lists the options of a command. `sotto --version` prints the "
        "version.\n"
        "exit codes: 0 done, 1 other, 2 usage or configuration, 3 data, 4 privacy refused, 5 "
        "network or "
        "peer, 6 audit inconsistent\n\n"
        "example: sotto train --mechanism corn --epsilon 10\n";
    return text;
}

const Command* find_command(std::string_view name) {
    const auto& table = commands();
    const auto found = std::ranges::find(table, name, &Command::name);
    return found == table.end() ? nullptr : &*found;
}

/// Refuses what the command line of a job begins with. The ranks first meet over MPI: a launcher
/// ends the job with the first process that fails, and that could be before rank 0 has said why.
int refuse_together(const std::string& name) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        network->agree([&] { (void)command_named(name); });
        return 0;
    });
}

/// How long a rank that has not reached the others waits for rank 0 to say what failed.
constexpr std::chrono::seconds kTimeForRank0{2};

/// Ends a process that is alone, or one of a job whose ranks have not met (MPI could not start).
int end_with(const LaunchEnvironment& launch, ExitCode code, std::string_view message) {
    if (launch.rank == 0)
        print_error_line(message);
    else
        std::this_thread::sleep_for(kTimeForRank0);
    return static_cast<int>(code);
}

int dispatch(const std::vector<std::string>& arguments, const LaunchEnvironment& launch) {
    const bool speaks = launch.rank == 0;
    if (launch.launched && arguments.empty()) return refuse_together("");
    if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h" ||
        arguments.front() == "help") {
        if (speaks) fmt::print("{}", program_help());
        return static_cast<int>(arguments.empty() ? ExitCode::usage : ExitCode::ok);
    }
    if (arguments.front() == "--version") {
        if (speaks)
            fmt::print("sotto {} (commit {}, {}, eigenvalues by {})\n",
                       build_version(),
                       build_commit(),
                       build_compiler(),
                       eigen_backend());
        return 0;
    }
    if (launch.launched && find_command(arguments.front()) == nullptr)
        return refuse_together(arguments.front());
    const Command& command = command_named(arguments.front());
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    if (std::find(rest.begin(), rest.end(), "--help") != rest.end()) {
        if (speaks) fmt::print("{}", help_for(command));
        return 0;
    }
    if (!command.parallel && !speaks) return 0;
    return command.run(rest);
}

}  // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> table{graph_command(),
                                            plan_command(),
                                            account_command(),
                                            train_command(),
                                            sweep_command(),
                                            report_command(),
                                            audit_command(),
                                            doctor_command(),
                                            keygen_command()};
    return table;
}

const Command& command_named(std::string_view name) {
    if (const Command* command = find_command(name)) return *command;
    std::vector<std::string> names;
    for (const auto& command : commands()) names.push_back(command.name);
    throw unknown_name_error("command", name, names);
}

std::string help_for(const Command& command) {
    return fmt::format("sotto {}: {}\n\nusage: sotto {}{} [options]\n{}\nexample: {}\n",
                       command.name,
                       command.summary,
                       command.name,
                       positional_usage(command.options()),
                       help_text(command.options()),
                       command.example);
}

void require_json_writable(const ParsedOptions& options) {
    if (options.has("json") && options.text("json") != "-") require_writable(options.text("json"));
}

void write_json(const ParsedOptions& options, const std::string& json) {
    if (!options.has("json")) return;
    if (options.text("json") == "-") {
        std::fputs(json.c_str(), stdout);
        std::fflush(stdout);
    } else {
        write_file_atomically(options.text("json"), json);
    }
}

std::FILE* report_stream(const ParsedOptions& options) {
    if (options.flag("quiet")) return nullptr;
    return options.has("json") && options.text("json") == "-" ? stderr : stdout;
}

void watch_for_stop() {
    std::signal(SIGINT, note_stop);
    std::signal(SIGTERM, note_stop);
}

bool stop_requested() { return stop_signal != 0; }

void resolve_agents(ParsedOptions& options, int ranks) {
    const std::string text = std::to_string(ranks);
    if (options.given("agents") && !options.has("graph") && options.text("agents") != text)
        throw ConfigError(fmt::format(
            "--agents: {0} given, but {1} MPI rank{2} started; every rank is one agent, so start "
            "{0} ranks, or run without mpirun to host all agents in one process",
            options.text("agents"),
            text,
            ranks == 1 ? " was" : "s were"));
    options.resolve("agents", text);
}

int run_together(Network& network, const std::function<int()>& job) try {
    return job();
} catch (const std::exception& failure) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    const ExitCode code = known != nullptr ? known->exit_code() : ExitCode::other;
    const bool together = network.failed_together();
    if (!together || network.process() == 0)
        print_error_line(fmt::format(
            "{}{}", together ? "" : fmt::format("rank {}: ", network.process()), failure.what()));
    if (!together) network.abort(code);
    return static_cast<int>(code);
}

int run_program(const std::vector<std::string>& arguments) {
    const LaunchEnvironment launch = launch_environment();
    try {
        return dispatch(arguments, launch);
    } catch (const Error& error) {
        return end_with(launch, error.exit_code(), error.what());
    } catch (const std::bad_alloc&) {
        return end_with(launch, ExitCode::other, "out of memory");
    } catch (const std::exception& error) {
        return end_with(launch, ExitCode::other, error.what());
    }
}

}  // namespace sotto::cli
