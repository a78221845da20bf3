#include "design/solver_input.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

void require_kappa(const Eigen::VectorXd& kappa) {
    for (Eigen::Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
}

void require_variance_cap(double variance_cap) {
    if (!(variance_cap > 1))
        throw ConfigError(
            fmt::format("variance-cap: {} is not allowed (must be above 1)", variance_cap));
}

void throw_cap_too_small(double variance_cap, bool common_variance) {
    throw ConfigError(
        fmt::format("variance-cap: {} is too small for noise that protects every agent (choose a "
                    "larger one{})",
                    variance_cap,
                    common_variance ? ", or no common-variance" : ""));
}

void require_utility_of(const Eigen::MatrixXd& utility, Eigen::Index agents) {
    if (utility.rows() != agents || utility.cols() != agents)
        throw ConfigError(fmt::format("utility matrix: {} x {} does not fit {} agents",
                                      utility.rows(),
                                      utility.cols(),
                                      agents));
}

}  // namespace sotto
