#include "design/optimal_gossip.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double weight_grid = 0x1p-26;

/// sum_i phi(p_i), p = base + directions c, with its derivatives by c.
class LeftNoise {
  public:
    LeftNoise(const UtilityGain& gain, NoiseKind noise, VectorXd base, MatrixXd directions)
        : gain_(gain), noise_(noise), base_(std::move(base)), directions_(std::move(directions)) {}

    /// @param floor added to s under the root.
    [[nodiscard]] double at(const VectorXd& weights, double floor) const {
        const VectorXd values = base_ + directions_ * weights;
        double sum = 0;
        for (const double value : values) {
            const double gain = gain_.at(value);
            sum += noise_ == NoiseKind::independent ? gain : std::sqrt(gain + floor);
        }
        return sum;
    }
    /// The Newton step -H^-1 g; phi'' is taken as at least a small positive number.
    [[nodiscard]] VectorXd step(const VectorXd& weights, double floor) const {
        const VectorXd values = base_ + directions_ * weights;
        VectorXd first(values.size()), second(values.size());
        for (Index i = 0; i < values.size(); ++i) {
            constexpr double apart = 1e-5;
            const double here = slope(values(i), floor);
            first(i) = here;
            second(i) =
                (slope(values(i) + apart, floor) - slope(values(i) - apart, floor)) / (2 * apart);
        }
        second = second.cwiseMax(1e-6 * (1 + second.cwiseAbs().maxCoeff()));
        MatrixXd hessian = directions_.transpose() * second.asDiagonal() * directions_;
        hessian.diagonal().array() += 1e-12 * hessian.trace();
        return -hessian.ldlt().solve(directions_.transpose() * first);
    }

  private:
    /// phi'(p).
    [[nodiscard]] double slope(double value, double floor) const {
        const double by = gain_.derivative_at(value);
        return noise_ == NoiseKind::independent ? by
                                                : by / (2 * std::sqrt(gain_.at(value) + floor));
    }

    const UtilityGain& gain_;
    NoiseKind noise_;
    VectorXd base_;
    MatrixXd directions_;
};

/// Newton's method with halved steps.
VectorXd least(const LeftNoise& left, VectorXd weights, double floor) {
    constexpr int most_steps = 60;
    double value = left.at(weights, floor);
    for (int k = 0; k < most_steps; ++k) {
        const VectorXd step = left.step(weights, floor);
        double part = 1, next = 0;
        for (;; part /= 2) {
            next = left.at(weights + part * step, floor);
            if (next < value) break;
            if (part < 1e-6) return weights;
        }
        weights += part * step;
        if (value - next < 1e-12 * value) return weights;
        value = next;
    }
    return weights;
}

/// Eigenvalues of a symmetric W without the mean's, the largest.
VectorXd differing_modes(const MixingMatrix& mixing) {
    const VectorXd values = symmetric_eigen(mixing.dense()).values;
    return values.head(values.size() - 1);
}

/// P_k(x) of every mode, k = 0 .. K, in columns.
MatrixXd values_of_messages(const GossipPolynomial& base, const VectorXd& modes) {
    MatrixXd values(modes.size(), base.steps() + 1);
    values.col(0).setOnes();
    for (int k = 0; k < base.steps(); ++k) {
        values.col(k + 1) = base.here(k) * modes.cwiseProduct(values.col(k));
        if (base.before(k) != 0) values.col(k + 1) -= base.before(k) * values.col(k - 1);
    }
    return values;
}

}  // namespace

GossipPolynomial optimal_gossip(const MixingMatrix& mixing,
                                int steps,
                                const UtilityGain& gain,
                                NoiseKind noise) {
    const double radius = mixing.symmetric() ? mixing_radius(mixing) : 1;
    if (!(radius < 1))
        throw ConfigError(
            "gossip: optimal needs a symmetric mixing matrix of a connected graph (--mixing "
            "metropolis, max-degree or lazy-metropolis; or --gossip plain)");
    const GossipPolynomial base = GossipPolynomial::chebyshev(steps, radius);
    const VectorXd modes = differing_modes(mixing);
    if (steps == 0 || modes.size() == 0 || radius == 0) return base;
    const MatrixXd values = values_of_messages(base, modes);
    const MatrixXd directions = values.leftCols(steps).colwise() - values.col(steps);
    const LeftNoise left(gain, noise, values.col(steps), directions);
    VectorXd weights = VectorXd::Zero(steps);
    for (const double floor : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) weights = least(left, weights, floor);
    std::vector<double> combination;
    double rest = 1;
    for (const double weight : weights) {
        combination.push_back(std::round(weight / weight_grid) * weight_grid);
        rest -= combination.back();
    }
    combination.push_back(rest);
    return GossipPolynomial::combined(base, std::move(combination));
}

}  // namespace sotto
