#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/view_filter.hpp"

namespace sotto {

/// Gram matrices (rounds x rounds, lower and upper) of targets; nothing where one is infinite.
struct TargetGram {
    bool infinite = false;
    Eigen::MatrixXd gram;
};
[[nodiscard]] std::vector<TargetGram> target_grams(const ViewFilter& filter,
                                                   std::span<const int> targets);

}  // namespace sotto
