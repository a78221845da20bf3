#include "commands/sweep/sweep_training.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/memory_network.hpp"
#include "training/training.hpp"
#include "training/training_summary.hpp"

namespace sotto {

namespace {

std::map<std::string, double> metrics_of(const TrainResult& trained, const TrainConfig& config) {
    const auto summary = nlohmann::json::parse(summary_json(trained, config.plan));
    std::map<std::string, double> metrics;
    for (const std::string& name : sweep_metrics())
        metrics[name] = summary.at(name).is_null() ? not_a_number : summary.at(name).get<double>();
    return metrics;
}

SweepOutcome failure_of(const std::exception& failure, SweepOutcome::Status status) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    SweepOutcome outcome;
    outcome.status = status;
    outcome.error = failure.what();
    outcome.exit_code = static_cast<int>(known != nullptr ? known->exit_code() : ExitCode::other);
    return outcome;
}

}  // namespace

std::optional<SweepOutcome> train_once(const std::function<TrainConfig()>& read,
                                       const std::filesystem::path& run_directory,
                                       const std::function<void()>& discard,
                                       int threads,
                                       TrainingListener& listener,
                                       const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    SweepOutcome outcome;
    discard();
    try {
        TrainConfig config = read();
        config.run_directory = run_directory.string();
        config.threads = threads;
        const auto network = make_memory_network(std::max(1, agents_of(config.graph)), threads);
        const TrainResult trained = run_training(config, *network, listener, stop_requested);
        if (trained.interrupted) {
            discard();
            return std::nullopt;
        }
        outcome.metrics = metrics_of(trained, config);
    } catch (const DivergedError& failure) {
        outcome = failure_of(failure, SweepOutcome::Status::diverged);
    } catch (const std::exception& failure) {
        outcome = failure_of(failure, SweepOutcome::Status::failed);
    }
    outcome.seconds = seconds_since(start);
    return outcome;
}

}  // namespace sotto
