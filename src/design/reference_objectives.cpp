#include "design/reference_objectives.hpp"

#include "design/large_design.hpp"
#include "design/message_plan.hpp"
#include "design/mixing_search.hpp"

namespace sotto {

double independent_objective(const DesignInput& input) {
    if (designs_locally(input)) return large_independent_objective(input).value;
    const RelativeLimits limits = relative_limits(input.kappa);
    const Eigen::MatrixXd utility = design_utility(input);
    return utility.diagonal().cwiseQuotient(limits.kappa).sum();
}

double trusted_mean_objective(const DesignInput& input) {
    const int agents = input.graph->agents();
    Smoothing smoothing = input.smoothing;
    smoothing.final_gossip = 0;    // all have the same model
    if (designs_locally(input)) {  // M has s(1) for the mean, and s(0)
        const UtilityGain gain(input.utility, input.rounds, 1, smoothing);
        return gain.at(0) + (gain.at(1) - gain.at(0)) / agents;
    }
    const MixingMatrix average = MixingMatrix::average(agents);
    return utility_matrix(average, input.utility, input.rounds, 1, smoothing)(0, 0);
}

}  // namespace sotto
