#include "commands/cli/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "commands/cli/command.hpp"
#include "commands/cli/exit_codes.hpp"
#include "core/blas_memory.hpp"
#include "core/linear_algebra.hpp"
#include "core/output.hpp"
#include "core/signal_actions.hpp"
#include "net/mpi_network.hpp"
#include "net/mpi_session.hpp"
#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"

namespace sotto::cli {

namespace {

std::string program_help() {
    std::string text =
        "sotto: private peer-to-peer training over MPI\n\n"
        "usage: sotto <command> [options]\n"
        "       mpirun -n 20 sotto train [options]     every rank is one agent, or hosts "
        "several\n\n"
        "commands:\n";
    for (const Command& command : commands().records())
        text += fmt::format("  {:<8} {}\n", command.name, command.summary);
    text +=
        "\n`sotto <command> --help` shows the options that most people use, `sotto <command> "
        "--help all` all of them. `sotto --version` prints the version.\n";
    return text + "exit codes: " + exit_code_list() + "\n\nexample: sotto train --epsilon 3\n";
}

/// Refuses an unknown command in a job. The ranks first meet over MPI: a launcher ends the job with
/// the first process that fails, which could be before rank 0 has printed the reason.
int refuse_together(const std::string& name) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        network->agree([&] { (void)commands().find("command", name); });
        return 0;
    });
}

/// How long a rank waits for rank 0 to print what failed, if the ranks have not met.
constexpr std::chrono::seconds time_for_rank_0{2};

/// Ends a process that is alone, or one of a job whose ranks have not met (MPI could not start).
int end_with(const LaunchEnvironment& launch, ExitCode code, std::string_view message) {
    if (launch.rank == 0)
        print_error_line(message);
    else
        std::this_thread::sleep_for(time_for_rank_0);
    return static_cast<int>(code);
}

int print_on_rank_0(const LaunchEnvironment& launch, const std::string& text, ExitCode code) {
    if (launch.rank == 0) say(stdout, "{}", text);
    return static_cast<int>(code);
}

std::string kernels_in_use() {
    const std::string name = blas_kernels();
    return name.empty() ? "" : fmt::format(", {} kernels", name);
}

int dispatch(const std::vector<std::string>& arguments, const LaunchEnvironment& launch) {
    if (launch.launched && arguments.empty()) return refuse_together("");
    if (arguments.empty()) return print_on_rank_0(launch, program_help(), ExitCode::usage);
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help")
        return print_on_rank_0(launch, program_help(), ExitCode::ok);
    if (first == "--version")
        return print_on_rank_0(launch,
                               fmt::format("sotto {} (commit {}, {}, eigenvalues by {}{})\n",
                                           build_version(),
                                           build_commit(),
                                           build_compiler(),
                                           eigen_backend(),
                                           kernels_in_use()),
                               ExitCode::ok);
    if (launch.launched && commands().look_up(first) == nullptr) return refuse_together(first);
    const Command& command = commands().find("command", first);
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    // Words after -- belong to another program.
    const auto own_end = std::ranges::find(rest, "--");
    const auto help = std::find_if(rest.begin(), own_end, [](const std::string& word) {
        return word == "--help" || word == "-h";
    });
    if (help != own_end) {
        const bool all = help + 1 != own_end && *(help + 1) == "all";
        return print_on_rank_0(launch, help_for(command, all), ExitCode::ok);
    }
    if (!command.parallel && launch.rank != 0) return 0;
    reserve_blas_memory();
    return command.run(rest);
}

/// Makes the program fail if its output could not be written.
int finish_output(int code) {
    try {
        require_written(stdout, "standard output");
    } catch (const Error& error) {
        print_error_line(error.what());
        return code == 0 ? static_cast<int>(error.exit_code()) : code;
    }
    return code;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
    report_too_large_files();
    const LaunchEnvironment launch = launch_environment();
    try {
        return finish_output(dispatch(arguments, launch));
    } catch (const Error& error) {
        return end_with(launch, error.exit_code(), error.what());
    } catch (const std::bad_alloc&) {
        return end_with(launch, ExitCode::other, "out of memory");
    } catch (const std::exception& error) {
        return end_with(launch, ExitCode::other, error.what());
    }
}

}  // namespace sotto::cli
