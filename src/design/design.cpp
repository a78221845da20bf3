#include "sotto/design/design.hpp"

#include "sotto/design/scheduled_utility.hpp"

namespace sotto {

Eigen::MatrixXd design_utility(const DesignInput& input) {
    if (input.given_utility) return *input.given_utility;
    if (input.schedule)
        return spatial_utility(*input.schedule, {}, design_steps(input), input.gossip.steps());
    return utility_matrix(
        *input.mixing, input.utility, input.rounds, input.gossip, input.smoothing);
}

double default_gap(int agents) { return agents <= 200 ? 0.01 : 0.05; }

std::vector<double> design_steps(const DesignInput& input) {
    std::vector<double> steps;
    for (long t = 0; t < input.rounds; ++t) steps.push_back(input.steps.at(t) / input.steps.at(0));
    return steps;
}

}  // namespace sotto
