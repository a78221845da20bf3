#include "sotto/noise/reference_objectives.hpp"

#include "noise/finish_plan.hpp"

namespace sotto {

double independent_objective(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Eigen::MatrixXd utility = design_utility(input);
    return utility.diagonal().cwiseQuotient(limits.kappa).sum();
}

double trusted_mean_objective(const DesignInput& input) {
    const MixingMatrix average = MixingMatrix::average(input.graph->agents());
    return utility_matrix(average, input.utility, input.rounds, input.gossip_steps)(0, 0);
}

}  // namespace sotto
