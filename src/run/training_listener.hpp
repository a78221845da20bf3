#pragma once

#include <string>

#include "run/build_topography.hpp"
#include "run/planning.hpp"
#include "run/train_result.hpp"
#include "sotto/agent/evaluation.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// Told about a training as it goes; on process 0 only, unless said.
class TrainingListener {
  public:
    virtual ~TrainingListener() = default;
    /// On every process, before on_start.
    virtual void on_members(const Membership&) {}
    /// Everything is checked; the first round comes next (or nothing more in a dry run).
    virtual void on_start(const PlannedNoise&,
                          const BuiltTopography&,
                          const std::string& /*task*/,
                          const std::string& /*plan_report*/,
                          const RunEstimate*) {}
    /// On every process: rounds come next, and between any two a request to stop is answered.
    virtual void on_rounds() {}
    virtual void on_round(long /*completed*/, long /*rounds*/) {}
    virtual void on_evaluation(long /*completed*/, double /*epsilon*/, const Evaluation&) {}
    /// On every process: the training has ended, and what follows looks at what it left.
    virtual void on_analysis() {}
};

}  // namespace sotto
