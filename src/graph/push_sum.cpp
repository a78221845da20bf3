#include "sotto/graph/push_sum.hpp"

#include <Eigen/LU>
#include <optional>

#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

constexpr int most_dense = 2000;

/// The vector that `step` leaves as it is, by elimination; nothing where there are several.
std::optional<Eigen::VectorXd> fixed_vector(const SparseRows& step) {
    const Eigen::Index n = step.rows();
    Eigen::MatrixXd system = Eigen::MatrixXd(step) - Eigen::MatrixXd::Identity(n, n);
    system.row(n - 1).setOnes();
    const Eigen::PartialPivLU<Eigen::MatrixXd> factors(system);
    constexpr double singular = 1e-14;
    if (!(factors.rcond() > singular)) return std::nullopt;
    Eigen::VectorXd result = factors.solve(Eigen::VectorXd::Unit(n, n - 1));
    constexpr double tolerance = 1e-12;
    const bool solves = (step * result - result).cwiseAbs().maxCoeff() <= tolerance &&
                        result.minCoeff() >= -tolerance;
    if (!solves) return std::nullopt;
    result = result.cwiseMax(0.0);
    return result / result.sum();
}

/// What equal weights come to.
Eigen::VectorXd limit_of_equal(const SparseRows& step) {
    const Eigen::Index n = step.rows();
    Eigen::VectorXd weights = Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n));
    constexpr int most_steps = 100'000;
    for (int k = 0; k < most_steps; ++k) {
        // The half of them that stays makes weights that change places come to rest.
        const Eigen::VectorXd next = 0.5 * (weights + step * weights);
        const double change = (next - weights).cwiseAbs().maxCoeff();
        weights = next;
        if (change <= 1e-17 / static_cast<double>(n)) break;
    }
    return weights / weights.sum();
}

}  // namespace

Eigen::VectorXd perron_vector(const MixingMatrix& mixing) {
    const Eigen::Index n = mixing.agents();
    if (mixing.doubly_stochastic())
        return Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n));
    const SparseRows step = mixing.push_sum() ? mixing.sparse() : mixing.sparse().transpose();
    if (n <= most_dense)
        if (auto found = fixed_vector(step)) return *std::move(found);
    return limit_of_equal(step);
}

Eigen::VectorXd estimate_factors(const MixingMatrix& mixing) {
    const Eigen::Index n = mixing.agents();
    if (!mixing.push_sum()) return Eigen::VectorXd::Ones(n);
    return (static_cast<double>(n) * perron_vector(mixing)).cwiseInverse();
}

void PushSumWeights::mix(const MixingMatrix& mixing, double here, double before) {
    const Eigen::VectorXd mixed = here * (mixing.sparse() * now_) - before * before_;
    before_ = now_;
    now_ = mixed;
}

}  // namespace sotto
