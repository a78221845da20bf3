#pragma once

#include <functional>
#include <string>

#include "commands/sweep/sweep_config.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "config/config.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Told about a sweep as it goes; on process 0 only, unless said.
class SweepListener {
  public:
    virtual ~SweepListener() = default;
    /// @param at_least further values may add to these trainings.
    virtual void on_start(std::size_t /*cells*/,
                          long /*trainings*/,
                          long /*known*/,
                          bool /*at_least*/) {}
    /// @param finished since the start, by all processes.  @param left trainings.
    virtual void on_progress(long /*finished*/, long /*left*/, bool /*at_least*/) {}
    /// On every process: whether requests to stop are answered soon from here on, as between rounds
    /// and trainings; not where a training is prepared.
    virtual void on_stops_answered(bool /*soon*/) {}
};

/// The options of a training, checked. @throws ConfigError.
using ReadTrainConfig = std::function<TrainConfig(const std::string& ini)>;

/// Runs every training of the grid that is not known from an earlier start, each in one process;
/// processes take the next one when they are done (a file per training in the folder that all share
/// says who has it). Cells go on by themselves: with the values beside the best, as soon as the
/// last training that chooses is done, then with those that measure (SweepBoard); a process waits
/// only while none of these is free. A training that diverges, or fails, leaves the others alone.
/// Figures are in DIR/trainings, run directories in DIR/runs, and process 0 writes DIR/runs.csv
/// (one row a training) and DIR/results.csv (one row a cell; means over the seeds with half widths
/// of 95% intervals of Student's t). COLLECTIVE.
/// @throws ConfigError before the first training for options, or a folder that is not shared or in
/// use.
[[nodiscard]] SweepResult run_sweep(const SweepConfig& config,
                                    const ReadTrainConfig& read,
                                    Network& network,
                                    SweepListener& observer,
                                    const std::function<bool()>& stop_requested);

}  // namespace sotto
