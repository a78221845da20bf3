#pragma once

#include <Eigen/Dense>
#include <vector>

#include "design/coalition_problem.hpp"
#include "design/group_layout.hpp"

namespace sotto {

/// Private noise alone, 1 / kappa_u each (the largest where it is common): protects everyone from
/// everybody.
[[nodiscard]] Eigen::VectorXd private_values(const GroupLayout& layout,
                                             const Eigen::VectorXd& kappa);

/// Values to begin a search with, feasible for the coalitions of a list: the cheapest of two
/// families, over how much noise is shared: as much in every group (decor's), and as much for every
/// agent where it costs little, with private noise that follows what each lacks. Some is shared
/// wherever there are groups.
/// @param cost of the layout's numbers.   @param cap largest R_uu, n, > 1 / kappa.
/// Cost: 20 times excess_of_agents.
[[nodiscard]] Eigen::VectorXd first_values(const GroupLayout& layout,
                                           const Eigen::VectorXd& cost,
                                           const Eigen::VectorXd& cap,
                                           const Eigen::VectorXd& kappa,
                                           const std::vector<Coalition>& coalitions);

/// Whether some share seeds with many more than most do: first values are then off by very
/// different factors, and long steps from there swing.
[[nodiscard]] bool is_uneven(const GroupLayout& layout);

}  // namespace sotto
