#include "training/failed_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/error_line.hpp"
#include "sotto/core/error.hpp"
#include "training/sealed_ledger.hpp"

namespace sotto {

namespace {

ExitCode exit_code_of(const std::exception& failure) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    return known != nullptr ? known->exit_code() : ExitCode::other;
}

}  // namespace

void end_failed_run(const OpenRun& run, const std::exception& failure) {
    Network& network = run.prepared.run.network;
    const long rounds = run.progress.rounds;
    // Messages of a started round may have left: the ledger keeps counting all planned rounds, also
    // the one that is there where this one cannot be written.
    if (run.prepared.run.leader()) try {
            write_open_ledger(run, Ledger::Status::failed, rounds);
        } catch (const Error& unwritten) {
            print_error_line(unwritten.what());
        }
    const std::string message =
        fmt::format("{}, round {}: {}", network.process_name(), rounds, failure.what());
    const bool first = run.directory.claim_failure(message);
    if (network.processes() == 1) throw;
    // The process that reports the failure ends the job meanwhile, unless it is cut off. (Not
    // ::sleep: the launcher's signals would wake it.)
    if (!first) std::this_thread::sleep_for(std::chrono::seconds(5));
    print_error_line(message);
    network.abort(exit_code_of(failure));
}

}  // namespace sotto
