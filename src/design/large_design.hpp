#pragma once

#include <string>

#include "design/utility_probes.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// Whether a design is made without matrices of agents x agents: above most_dense_agents agents,
/// for symmetric mixing that does not change, with seed groups of two agents (or none) and private
/// variances that may differ.
[[nodiscard]] bool designs_locally(const DesignInput& input);

/// Tr(M R) of ldp for such an input: sum of M_uu / kappa_u at smallest kappa 1, from probes.
[[nodiscard]] Estimate large_independent_objective(const DesignInput& input);

/// Private noise and noise of pairs that cancels, for the input's seed groups (solve_pair_prices),
/// with every agent's limit certified by LocalFlow. The objective is an estimate from fresh probes,
/// its lower bound one from those that the plan was made with, which no plan of this form stays
/// below in the mean; Design::objective_error has their standard error.
[[nodiscard]] Design design_large_pairs(std::string mechanism, const DesignInput& input);

/// The same with one private variance and one variance of all edges, whose ratio is searched; no
/// lower bound.
[[nodiscard]] Design design_large_alike_edges(std::string mechanism, const DesignInput& input);

}  // namespace sotto
