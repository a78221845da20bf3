#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sotto {

/// A set of agents whose figures add up.
struct WorstSum {
    std::vector<int> agents;  ///< ascending
    double share = 0;         ///< (sum of figures)^power / smallest limit of the set
};
/// The set of up to `agents` of all with the largest share. Cost: n log n for every distinct limit.
/// @param figures 0 or more.  @param allowed limits, above 0; infinite: sets none.
/// @param power 1 where squares add up (independent noise), 2 where mu does.
[[nodiscard]] WorstSum worst_sum(const Eigen::VectorXd& figures,
                                 const Eigen::VectorXd& allowed,
                                 int agents,
                                 int power);

}  // namespace sotto
