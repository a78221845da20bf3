#include "training/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include "config/config.hpp"
#include "core/blas_memory.hpp"
#include "core/bytes.hpp"
#include "core/host.hpp"
#include "core/linear_algebra.hpp"
#include "core/output.hpp"
#include "net/memory_network.hpp"
#include "net/mpi_network.hpp"
#include "net/mpi_session.hpp"
#include "sotto/core/error.hpp"
#include "training/stop_signal.hpp"

namespace sotto {

namespace {

/// When all processes find the same error at once, each reports it, but only the lowest aborts the
/// job: two aborts may crash or hang Open MPI's mpirun. The launcher's SIGTERM ends the waiting
/// ones.
void let_lower_processes_end_the_job(int process) {
    std::signal(SIGTERM, SIG_DFL);
    std::this_thread::sleep_for(std::chrono::milliseconds(300) * std::min(process, 10));
}

/// Whether all processes get here soon. After a common failure, a process that ends or deviates may
/// leave without a message. COLLECTIVE.
bool all_are_there(Network& network) try {
    network.watch_for_stalls({0, 3, "after a failure", [](const std::string&) {}});
    network.agree([] {});
    return true;
} catch (const std::exception&) {
    return false;
}

}  // namespace

int run_together(Network& network, const std::function<int()>& job) try {
    const TrainConfig defaults;
    network.watch_for_stalls(stall_limits(defaults.stall_abort_seconds, network.process_name()));
    return job();
} catch (const std::exception& failure) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    const ExitCode code = known != nullptr ? known->exit_code() : ExitCode::other;
    const bool tells_for_all = network.failed_together() && network.process() == 0;
    if (tells_for_all) print_error_line(failure.what());
    if (network.failed_together() && all_are_there(network)) {
        // All processes end now with this code. A launcher that sends SIGTERM because one has ended
        // must not change it.
        std::signal(SIGTERM, SIG_IGN);
        return static_cast<int>(code);
    }
    if (!tells_for_all)
        print_error_line(fmt::format("{}: {}", network.process_name(), failure.what()));
    let_lower_processes_end_the_job(network.process());
    network.abort(code);
    return static_cast<int>(code);
}

int run_job(const std::function<PreparedJob(Network& ranks, bool alone)>& prepare) {
    if (!launch_environment().launched) {
        const auto ranks = make_memory_network(1, 1);
        const PreparedJob job = prepare(*ranks, true);
        set_linear_algebra_threads(job.threads);
        const auto network = make_memory_network(std::max(1, job.agents()), job.threads);
        return job.run(*network);
    }
    const MpiSession session;
    const auto ranks = make_mpi_network(session);
    return run_together(*ranks, [&] {
        const PreparedJob job = prepare(*ranks, false);
        set_linear_algebra_threads(job.threads);
        const auto run_on = [&](Network& network) {
            if (!job.limits_waits) network.watch_for_stalls({});
            return job.run(network);
        };
        const int agents = std::max(job.agents_of_ranks.value_or(session.ranks()), session.ranks());
        if (agents == session.ranks()) return run_on(*ranks);
        const auto network = make_mpi_network(session, agents);
        return run_together(*network, [&] { return run_on(*network); });
    });
}

int granted_threads(int asked, bool alone) {
    const int most = most_blas_threads();
    if (asked > most)
        throw Error(ExitCode::other,
                    fmt::format("out of memory: --threads {}: under this limit on address space "
                                "(ulimit -v) {} can compute at the same time; raise the limit, or "
                                "use --threads {}",
                                asked,
                                most,
                                most));
    if (asked > 0) return asked;
    const int cores = usable_processors();
    return alone ? std::min(cores, most) : 1;
}

void resolve_agents(OptionTexts& given, int ranks) {
    given.try_emplace("agents", std::to_string(ranks));
}

int agents_of_rank_0(Network& ranks, int own) {
    constexpr int most_agents = 100000;
    ByteWriter writer;
    writer.put(std::int32_t{own});
    const std::string said = ranks.broadcast(writer.take(), sizeof(std::int32_t));
    int agents = 0;
    ranks.agree([&] {
        ByteReader reader(said, "the number of agents from rank 0");
        agents = reader.get<std::int32_t>();
        if (agents < 1 || agents > most_agents)
            throw NetworkError(fmt::format(
                "rank 0 says that there are {} agents (allowed: 1 to {})", agents, most_agents));
    });
    return agents;
}

int agree_on_agents(Network& ranks, int agents) {
    ranks.agree([&] {
        if (agents < ranks.processes())
            throw ConfigError(fmt::format(
                "--agents: {0} given, but {1} MPI ranks were started; every rank hosts at least "
                "one agent, so start at most {0} ranks, or run without mpirun to host all agents "
                "in one process",
                agents,
                ranks.processes()));
    });
    const int of_rank_0 = agents_of_rank_0(ranks, agents);
    ranks.agree([&] {
        if (of_rank_0 != agents)
            throw ConfigError(fmt::format(
                "--agents: {} given, but rank 0 has {}; start all ranks with the same options",
                agents,
                of_rank_0));
    });
    return agents;
}

}  // namespace sotto
