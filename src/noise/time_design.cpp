#include "noise/time_design.hpp"

#include <fmt/format.h>

#include "noise/finish_plan.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

void require_choice_of_rounds(const DesignInput& input, std::string_view mechanism) {
    if (input.participation.cycle < 2)
        throw ConfigError(fmt::format(
            "participation: {} leaves mechanism {} nothing to choose, since every round then "
            "counts against every other (use cyclic:b with a record adjacency, or another "
            "mechanism)",
            name_of(input.participation),
            mechanism));
}

Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input) {
    return relative_limits(input.kappa).unit * spatial_covariance(plan);
}

ShapedFactor time_given_space(const DesignInput& input, const Eigen::MatrixXd& covariance) {
    return solve_shaped_factor(*input.mixing,
                               covariance,
                               design_steps(input),
                               input.gossip_steps,
                               input.participation.cycle,
                               input.temporal);
}

}  // namespace sotto
