#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/agent/evaluation.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/ledger.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// What there is to tell before the first round.
struct TrainingStart {
    const TrainConfig& config;
    int processes = 1;
    const PlannedNoise& planned;
    const BuiltTopography& built;
    const std::string& task;     ///< what is learnt, from which data
    const std::string& report;   ///< all there is to say about plan and ledger
    const std::string& outline;  ///< the same in a few lines
    const std::vector<std::string>& warnings;
    std::string run_directory;              ///< none in a dry run
    const RunEstimate* estimate = nullptr;  ///< of a dry run
};

/// Told about a training as it goes; on process 0 only, unless said.
class TrainingListener {
  public:
    virtual ~TrainingListener() = default;
    /// On every process, before on_start.
    virtual void on_members(const Membership&) {}
    /// Everything is checked; the first round comes next (or nothing more in a dry run).
    virtual void on_start(const TrainingStart&) {}
    /// On every process: rounds come next, and between any two a request to stop is answered.
    virtual void on_rounds() {}
    /// @param ledger says what the rounds so far have revealed, at its cost.
    virtual void on_round(long /*completed*/, long /*rounds*/, const Ledger& /*ledger*/) {}
    virtual void on_evaluation(long /*completed*/, double /*epsilon*/, const Evaluation&) {}
    /// On every process: the training has ended, and what follows looks at what it left.
    virtual void on_analysis() {}
};

}  // namespace sotto
