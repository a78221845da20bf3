#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "training/run_subject.hpp"

namespace sotto {

/// One picture of a square of numbers.
struct HeatMap {
    std::string title, unit, text;
    std::string rows, columns;       ///< what they are
    std::vector<std::string> names;  ///< of both
    Eigen::MatrixXd values;
};
/// Noise of every phase: covariance across agents, or what messages carry where that depends on the
/// receiver; and over rounds where they are correlated (sampled above 200 rounds).
[[nodiscard]] std::vector<HeatMap> noise_pictures(const RecordedRun& run);

}  // namespace sotto
