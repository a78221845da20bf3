#include "design/reference_objectives.hpp"

#include "design/message_plan.hpp"

namespace sotto {

double independent_objective(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Eigen::MatrixXd utility = design_utility(input);
    return utility.diagonal().cwiseQuotient(limits.kappa).sum();
}

double trusted_mean_objective(const DesignInput& input) {
    const MixingMatrix average = MixingMatrix::average(input.graph->agents());
    Smoothing smoothing = input.smoothing;
    smoothing.final_gossip = 0;  // all have the same model
    return utility_matrix(average, input.utility, input.rounds, 1, smoothing)(0, 0);
}

}  // namespace sotto
