#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "commands/cli/command.hpp"
#include "commands/doctor/doctor.hpp"
#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/launch_checks.hpp"
#include "core/host.hpp"
#include "core/output.hpp"
#include "net/mpi_network.hpp"
#include "net/mpi_session.hpp"
#include "options/option_parser.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"

namespace sotto::cli {

namespace {

/// Starting a job and exchanging messages take seconds, even with hundreds of ranks.
constexpr unsigned patience_seconds = 120;

std::vector<WrittenGroup> options_of_doctor() { return with_general({}); }

GeneralOptions read_options(const std::vector<std::string>& arguments) {
    return read_general(parse_options(options_of_doctor(), arguments));
}

/// @return exit code.
int report(const GeneralOptions& general, std::vector<RankFindings> findings) {
    const std::vector<DoctorCheck> merged = merge_findings(findings);
    write_json(general, doctor_report_json(findings, merged));
    if (std::FILE* out = report_stream(general)) {
        say(out, "{}", doctor_report_text(findings, merged));
        std::fflush(out);
    }
    const bool ok = std::all_of(merged.begin(), merged.end(), [](const auto& c) { return c.ok; });
    return static_cast<int>(ok ? ExitCode::ok : ExitCode::other);
}

Placement alone() {
    Placement placement;
    placement.host = local_host_name();
    placement.cores_on_host = static_cast<int>(allowed_cores().size());
    return placement;
}

/// Adds the machine's checks after those of the launcher.
RankFindings findings_of(const Placement& placement, std::vector<DoctorCheck> checks) {
    const auto machine = check_machine(placement);
    checks.insert(checks.end(), machine.begin(), machine.end());
    return {placement, std::move(checks)};
}

int examine_alone(const std::vector<std::string>& arguments) {
    const GeneralOptions general = read_options(arguments);
    // Checks the machine first, because mpirun may change it (as root it makes a missing TMPDIR).
    RankFindings findings = findings_of(alone(), {});
    findings.checks.insert(findings.checks.begin(), {check_mpirun(), check_trial_job()});
    return report(general, {findings});
}

/// Prepared in advance, because a signal handler may not allocate memory.
std::string last_words;

extern "C" void give_up(int) {
    (void)!::write(STDERR_FILENO, last_words.data(), last_words.size());
    ::_exit(static_cast<int>(ExitCode::network));
}

/// Reports what this process finds alone, if the job did not start as announced.
int examine_broken_job(const std::vector<std::string>& arguments, const std::string& reason) {
    const GeneralOptions general = read_options(arguments);
    Placement placement = alone();
    placement.launched = true;
    return report(
        general,
        {findings_of(
            placement,
            {{"launcher", false, reason, "start the job with the mpirun of this MPI library"},
             {"exchange", false, "not tried: no job", "see launcher"}})});
}

int examine_job(const std::vector<std::string>& arguments) {
    const LaunchEnvironment launch = launch_environment();
    if (launch.rank == 0) {
        last_words = fmt::format(
            "sotto: doctor: the ranks did not reach each other within {} s; a firewall between the "
            "hosts, or an address they cannot use ({})\n",
            patience_seconds,
            launch_words().network);
        std::signal(SIGALRM, give_up);
        ::alarm(patience_seconds);
    }
    std::optional<MpiSession> session;
    try {
        session.emplace();
    } catch (const NetworkError& error) {
        if (launch.rank != 0) throw;
        return examine_broken_job(arguments, error.what());
    }
    const auto network = make_mpi_network(*session);
    const int exit_code = run_together(*network, [&] {
        GeneralOptions general;
        network->agree([&] { general = read_options(arguments); });
        const Placement placement = find_placement(*network);
        const bool announced = launch.ranks == placement.ranks || launch.ranks == 1;
        const DoctorCheck launcher{"launcher",
                                   announced,
                                   fmt::format("{} ranks announced, {} started",
                                               announced ? placement.ranks : launch.ranks,
                                               placement.ranks),
                                   announced ? "" : "start the job with this MPI's mpirun",
                                   true};
        const DoctorCheck exchange = check_exchange(*network);
        int ending = 0;
        std::string mine;
        network->agree([&] { mine = to_json(findings_of(placement, {launcher, exchange})); });
        const auto gathered = network->all_gather(mine, most_line_bytes);
        network->agree([&] {
            if (session->rank() != 0) return;
            std::vector<RankFindings> findings;
            for (const auto& text : gathered) findings.push_back(findings_from_json(text));
            ending = report(general, std::move(findings));
        });
        return ending;
    });
    ::alarm(0);
    return exit_code;
}

int doctor_main(const std::vector<std::string>& arguments) {
    return launch_environment().launched ? examine_job(arguments) : examine_alone(arguments);
}

}  // namespace

Command doctor_command() {
    return {.name = "doctor",
            .summary =
                "check whether this machine, or this set of hosts, is ready (exit code 1 if not)",
            .example = "mpirun -n 20 --hostfile mpi_hosts sotto doctor",
            .description = R"(
Without mpirun it checks this machine and starts a trial job of two ranks. Under mpirun every rank checks its host and exchanges
messages with the others, and rank 0 reports for all. Each check that fails says how to fix what it found.)",
            .options = options_of_doctor,
            .parallel = true,
            .run = doctor_main};
}

}  // namespace sotto::cli
