#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>

#include "sotto/cli/command.hpp"
#include "sotto/cli/progress.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {graph_options(),
            plan_options(),
            task_options(),
            run_options(),
            peer_options(),
            common_options()};
}

int default_threads() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// The job itself, on any network. Reports on process 0.
int train_on(Network& network, const ParsedOptions& parsed, const TrainConfig& config) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(parsed) : nullptr;
    Progress progress(report);
    network.agree([&] {
        if (leader) require_json_writable(parsed);
    });
    if (report != nullptr && network.processes() == 1 && network.agents() > 1)
        fmt::print(report,
                   "all {} agents run in this process; `mpirun -n {} sotto train ...` gives each "
                   "its own\n",
                   network.agents(),
                   network.agents());
    watch_for_stop();
    const TrainResult result = run_training(config, network, progress, stop_requested);
    progress.finish();
    if (leader) {
        write_json(parsed, summary_json(result, config));
        if (report != nullptr) {
            fmt::print(report, "{}", summary_text(result, config));
            std::fflush(report);
        }
    }
    return static_cast<int>(result.interrupted ? ExitCode::other : ExitCode::ok);
}

int train_alone(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    TrainConfig config = read_train_config(parsed);
    if (config.threads == 0) config.threads = default_threads();
    set_linear_algebra_threads(config.threads);
    const auto network = make_memory_network(agents_of(config.graph), config.threads);
    return train_on(*network, parsed, config);
}

int train_over_mpi(const std::vector<std::string>& arguments) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        std::optional<ParsedOptions> parsed;
        TrainConfig config;
        network->agree([&] {
            parsed.emplace(options(), arguments);
            resolve_agents(*parsed, session.ranks());
            config = read_train_config(*parsed);
            if (config.threads == 0) config.threads = 1;
            set_linear_algebra_threads(config.threads);
        });
        return train_on(*network, *parsed, config);
    });
}

int run(const std::vector<std::string>& arguments) {
    return launch_environment().launched ? train_over_mpi(arguments) : train_alone(arguments);
}

}  // namespace

Command train_command() {
    return {"train",
            "train a model privately, one agent per MPI rank (or all in one process)",
            "mpirun -n 20 sotto train --data a9a.gz --mechanism corn --epsilon 10 --rounds 1000",
            options,
            true,
            run};
}

}  // namespace sotto::cli
