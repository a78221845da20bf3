#include "design/edge_mixing.hpp"

#include <cmath>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

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
    // The mean's eigenvalue is lifted to where no other is: no vector is a mix of it and others.
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

}  // namespace sotto
