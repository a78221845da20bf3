#include "design/mixing_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "design/descent.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

using Eigen::VectorXd;

constexpr double largest_modulus = 1 - 1e-9;

}  // namespace

MixingSearch::MixingSearch(const MixingDesignInput& input, GossipPolynomial gossip)
    : graph_(*input.graph),
      edges_(graph_),
      gain_(input.utility, input.rounds, std::move(gossip), input.smoothing),
      mean_gain_(gain_.at(1)) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::max_degree})
        starts_.push_back(edges_.weights_of(MixingMatrix::from_rule(graph_, rule)));
    if (edges_.edges() == 0) return;
    const VectorXd ones = VectorXd::Ones(edges_.edges());
    const VectorXd laplacian = (1 - symmetric_eigenvalues(edges_.matrix(ones)).array()).reverse();
    const double best = 2 / (laplacian(1) + laplacian(laplacian.size() - 1));
    // On complete graphs W is singular there; slightly aside is as good.
    starts_.push_back(0.999 * best * ones);
}

double MixingSearch::value(const BestNoise& noise,
                           const VectorXd& weights,
                           VectorXd& gradient) const {
    gradient.setZero(edges_.edges());
    if (!weights.allFinite()) return infinity;
    MixingPoint point(edges_.matrix(weights));
    if (!(point.modulus() < largest_modulus)) return infinity;
    const NoiseAnswer answer = noise(point.utility(gain_, mean_gain_));
    gradient = -edges_.differences(point.derivative(gain_, answer.covariance));
    return answer.value;
}

FoundMixing MixingSearch::descend_from(const BestNoise& noise,
                                       const VectorXd& weights,
                                       int steps) const {
    DescentOptions options;
    options.max_steps = steps;
    const DescentPoint end = find_minimum(
        [&](const VectorXd& at, VectorXd& gradient) { return value(noise, at, gradient); },
        weights,
        options);
    return {end.point, end.value};
}

FoundMixing MixingSearch::best_of_starts(const std::function<BestNoise()>& make,
                                         const std::vector<VectorXd>& more) const {
    constexpr int first_steps = 25, last_steps = 150;
    constexpr std::size_t kept = 2;
    std::vector<FoundMixing> found;
    for (const auto* list : {&more, &starts_})
        for (const VectorXd& start : *list)
            found.push_back(descend_from(make(), start, first_steps));
    std::ranges::stable_sort(found, {}, &FoundMixing::value);
    found.resize(std::min(found.size(), kept));
    for (FoundMixing& each : found) each = descend_from(make(), each.weights, last_steps);
    return *std::ranges::min_element(found, {}, &FoundMixing::value);
}

VectorXd MixingSearch::rounded(const VectorXd& weights) {
    return weights.unaryExpr([](double weight) { return std::round(weight * 0x1p40) * 0x1p-40; });
}

MixingMatrix MixingSearch::mixing(const VectorXd& weights) const {
    const Eigen::MatrixXd dense = edges_.matrix(weights);
    const double modulus = MixingPoint(dense).modulus();
    if (!(modulus < 1))
        throw Error(
            ExitCode::other,
            fmt::format("mixing optimised: an eigenvalue off the mean has modulus {}, which "
                        "must be below 1; use --mixing metropolis",
                        modulus));
    return MixingMatrix::from_dense(graph_, dense);
}

}  // namespace sotto
