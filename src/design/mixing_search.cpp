#include "design/mixing_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "design/descent.hpp"
#include "design/spatial_solver.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

UtilityWeights utility_weights(const Utility& utility, long rounds) {
    switch (utility.kind) {
        case Utility::Kind::one_step:
            return {1, false};
        case Utility::Kind::horizon:
            return {utility.horizon, false};
        case Utility::Kind::trajectory:
            return {rounds, true};
        case Utility::Kind::final_model:
            return {rounds, false};
    }
    return {};
}

Smoothing counted_smoothing(const Utility& utility, Smoothing smoothing) {
    if (utility.kind == Utility::Kind::final_model) return smoothing;
    Smoothing counted;
    counted.correction = smoothing.correction;
    counted.momentum = smoothing.momentum;
    return counted;
}

UtilityGain::UtilityGain(const Utility& utility,
                         long rounds,
                         GossipPolynomial gossip,
                         Smoothing smoothing)
    : weights_(utility_weights(utility, rounds)),
      gossip_(std::move(gossip)),
      smoothing_(counted_smoothing(utility, std::move(smoothing))) {}

template <class Value>
Value UtilityGain::gain(const Value& eigenvalue) const {
    const Value mixed = gossip_.at(eigenvalue);
    const Value after = smoothing_.final_gossip.at(eigenvalue);
    ImpulseResponse<Value> response(smoothing_, mixed, Value(1));
    const bool powers = smoothing_.last_models_of_plain_steps();
    Value sum = 0;
    for (long age = 1; age <= weights_.length; ++age) {
        const Value& now = response.next();
        if (powers && now == Value(0)) break;  // all later terms are 0 too
        sum += weights_.at(age) * now * now;
    }
    return sum * after * after;
}

double UtilityGain::at(double eigenvalue) const { return gain(eigenvalue); }

double UtilityGain::derivative_at(double eigenvalue) const {
    constexpr double step = 1e-100;
    return gain(std::complex<double>(eigenvalue, step)).imag() / step;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

EdgeMixing::EdgeMixing(const Graph& graph)
    : agents_(graph.agents()), edges_(graph.edges().begin(), graph.edges().end()) {}

MatrixXd EdgeMixing::matrix(const VectorXd& weights) const {
    MatrixXd result = MatrixXd::Identity(agents_, agents_);
    for (Index e = 0; e < edges(); ++e) {
        const auto& [u, v] = edges_[static_cast<std::size_t>(e)];
        result(u, u) -= weights(e);
        result(v, v) -= weights(e);
        result(u, v) = result(v, u) = weights(e);
    }
    return result;
}

VectorXd EdgeMixing::weights_of(const MixingMatrix& mixing) const {
    VectorXd weights(edges());
    for (Index e = 0; e < edges(); ++e) {
        const auto& [u, v] = edges_[static_cast<std::size_t>(e)];
        weights(e) = mixing.weight(u, v);
    }
    return weights;
}

VectorXd EdgeMixing::differences(const MatrixXd& matrix) const {
    VectorXd result(edges());
    for (Index e = 0; e < edges(); ++e) {
        const auto& [u, v] = edges_[static_cast<std::size_t>(e)];
        result(e) = matrix(u, u) + matrix(v, v) - matrix(u, v) - matrix(v, u);
    }
    return result;
}

MixingPoint::MixingPoint(const MatrixXd& mixing) {
    const Index n = mixing.rows();
    // The mean's eigenvalue is shifted away from all others, so that no eigenvector mixes with it.
    const double lifted = 2 + 2 * mixing.cwiseAbs().rowwise().sum().maxCoeff();
    const double mean = lifted / static_cast<double>(n);
    const SymmetricEigen eigen = symmetric_eigen((mixing.array() + mean).matrix());
    values_ = eigen.values.head(n - 1);
    vectors_ = eigen.vectors.leftCols(n - 1);
    if (n > 1) largest_modulus_ = values_.cwiseAbs().maxCoeff();
}

MatrixXd MixingPoint::utility(const UtilityGain& gain, double mean_gain) {
    gains_ = values_.unaryExpr([&](double value) { return gain.at(value); });
    const Index n = vectors_.rows();
    const MatrixXd result = multiply(vectors_ * gains_.asDiagonal(), vectors_.transpose());
    return (0.5 * (result + result.transpose()).array() + mean_gain / static_cast<double>(n))
        .matrix();
}

MatrixXd MixingPoint::derivative(const UtilityGain& gain, const MatrixXd& covariance) const {
    constexpr double nearly_equal = 1e-6;
    const VectorXd slopes =
        values_.unaryExpr([&](double value) { return gain.derivative_at(value); });
    MatrixXd inner = multiply(vectors_.transpose(), multiply(covariance, vectors_));
    for (Index j = 0; j < inner.cols(); ++j)
        for (Index i = 0; i < inner.rows(); ++i) {
            const double apart = values_(i) - values_(j);
            inner(i, j) *= std::abs(apart) > nearly_equal ? (gains_(i) - gains_(j)) / apart
                                                          : 0.5 * (slopes(i) + slopes(j));
        }
    return multiply(vectors_, multiply(inner, vectors_.transpose()));
}

BestNoise given_noise(Eigen::MatrixXd covariance) {
    return [covariance = std::move(covariance)](const Eigen::MatrixXd& utility) {
        return NoiseAnswer{covariance, utility.cwiseProduct(covariance).sum()};
    };
}

BestNoise free_noise(double price) {
    return [price, lambda = Eigen::VectorXd()](const Eigen::MatrixXd& utility) mutable {
        constexpr double ridge = 1e-8;
        const Eigen::Index n = utility.rows();
        const double unit = utility.trace() / static_cast<double>(n);
        Eigen::MatrixXd lifted = utility / unit;
        lifted.diagonal().array() += ridge + price / unit;
        SpatialOptions options;
        options.relative_gap = 1e-7;
        options.max_iterations = 60;
        DualProblem problem(lifted, Eigen::VectorXd::Ones(n));
        if (lambda.size() == 0) lambda = Eigen::VectorXd::Ones(n);
        const DualPoint point = problem.maximise(lambda, options);
        lambda = point.lambda;
        NoiseAnswer answer;
        answer.covariance = problem.feasible_covariance(point);
        answer.value = unit * lifted.cwiseProduct(answer.covariance).sum();
        return answer;
    };
}

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

MixingModes mixing_modes(const MixingMatrix& mixing, const GossipPolynomial& gossip) {
    SymmetricEigen eigen = symmetric_eigen(mixing.dense());
    return {eigen.values.unaryExpr([&](double value) { return gossip.at(value); }),
            std::move(eigen.vectors)};
}

Eigen::VectorXd mode_weights(const MixingModes& modes, const Eigen::MatrixXd& covariance) {
    return (modes.vectors.transpose() * covariance * modes.vectors).diagonal();
}

}  // namespace sotto
