#include "design/reference_objectives.hpp"

#include <algorithm>

#include "core/seeded_random.hpp"
#include "design/message_plan.hpp"
#include "design/mixing_search.hpp"

namespace sotto {

namespace {

/// Agents above which nothing n x n is made.
constexpr int most_dense_objective = 1000;

/// Whether M is a sum of powers alone, so that probes are enough.
bool sums_powers(const DesignInput& input) {
    return !input.given_utility && !input.schedule && !input.mixing->push_sum() &&
           input.mixing->doubly_stochastic() &&
           counted_smoothing(input.utility, input.smoothing).none();
}

/// Tr(M diag(variances)) by random signs z, of which the mean's direction counts exactly: sum_k w_k
/// |P^k S z|^2 without the mean of S z, S = diag(variances)^(1/2), ends where later terms change
/// less than 1e-6. Standard error: about (2 / (n probes))^(1/2) of the value.
double probed_objective(const DesignInput& input, const Eigen::VectorXd& variances) {
    constexpr Eigen::Index all_signs = 1 << 19, least = 8, most = 256;
    const Eigen::Index n = variances.size();
    const UtilityWeights weights = utility_weights(input.utility, input.rounds);
    SeededRandom random(0, "sotto.design.probes");
    Eigen::MatrixXd probes(n, std::clamp(all_signs / n, least, most));
    const Eigen::VectorXd deviations = variances.cwiseSqrt();
    for (Eigen::Index j = 0; j < probes.cols(); ++j)
        for (Eigen::Index u = 0; u < n; ++u)
            probes(u, j) = random.below(2) == 0 ? deviations(u) : -deviations(u);
    probes.rowwise() -= probes.colwise().mean().eval();
    double sum = 0, left = 0;
    for (long age = 1; age <= weights.length; ++age) left += weights.at(age);
    const double of_mean = left * variances.mean();
    for (long age = 1; age <= weights.length; ++age) {
        probes = input.gossip.times(*input.mixing, probes);
        const double term = probes.squaredNorm() / static_cast<double>(probes.cols());
        sum += weights.at(age) * term;
        left -= weights.at(age);
        if (left * term <= 1e-6 * (sum + of_mean)) break;
    }
    return sum + of_mean;
}

}  // namespace

double independent_objective(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    if (input.graph->agents() > most_dense_objective && sums_powers(input))
        return probed_objective(input, limits.kappa.cwiseInverse());
    const Eigen::MatrixXd utility = design_utility(input);
    return utility.diagonal().cwiseQuotient(limits.kappa).sum();
}

double trusted_mean_objective(const DesignInput& input) {
    Smoothing smoothing = input.smoothing;
    smoothing.final_gossip = 0;  // all have the same model
    const auto of = [&](int agents) {
        return utility_matrix(
            MixingMatrix::average(agents), input.utility, input.rounds, 1, smoothing)(0, 0);
    };
    const int agents = input.graph->agents();
    if (agents <= most_dense_objective) return of(agents);
    // g(1)/n + g(0) (1 - 1/n) for the gain g of an eigenvalue, which one and two agents tell.
    const double mean = of(1), other = 2 * of(2) - mean;
    return mean / agents + other * (1 - 1.0 / agents);
}

}  // namespace sotto
