#pragma once

#include <optional>
#include <stdexcept>
#include <utility>

#include "commands/report/report_job.hpp"
#include "config/run_fixtures.hpp"
#include "core/stopwatch.hpp"
#include "training/run_subject.hpp"

namespace sotto::test {

/// Dies, or stops, once so many rounds are done.
struct Fate final : TrainingListener {
    void on_round(long completed, long, const Ledger&) override {
        if (completed == die_after) throw std::runtime_error("killed");
    }
    long die_after = 0;
};

inline void train(const TrainConfig& config, int there, long die_after = 0) {
    const auto network = make_memory_network(there, 1);
    Fate fate;
    fate.die_after = die_after;
    if (die_after > 0)
        EXPECT_THROW((void)run_training(config, *network, fate, [] { return false; }),
                     std::runtime_error);
    else
        (void)run_training(config, *network, fate, [] { return false; });
}

/// Trains in a folder, and reads the run again.
inline RecordedRun recorded_run(TrainConfig config, const TemporaryFolder& folder, int there) {
    config.run_directory = folder.path("run");
    train(config, there);
    return read_recorded_run(*config.run_directory, config);
}

/// So much later, in seconds.
inline Clock::time_point in_seconds(double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

inline ReportConfig report_config(const TrainConfig& config, std::optional<int> size = {}) {
    ReportConfig report;
    report.directory = *config.run_directory;
    report.run = config;
    report.coalition_size = size;
    return report;
}

}  // namespace sotto::test
