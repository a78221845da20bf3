#include "design/mixing_modes.hpp"

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

MixingModes mixing_modes(const MixingMatrix& mixing, const GossipPolynomial& gossip) {
    SymmetricEigen eigen = symmetric_eigen(mixing.dense());
    return {eigen.values.unaryExpr([&](double value) { return gossip.at(value); }),
            std::move(eigen.vectors)};
}

Eigen::VectorXd mode_weights(const MixingModes& modes, const Eigen::MatrixXd& covariance) {
    return (modes.vectors.transpose() * covariance * modes.vectors).diagonal();
}

}  // namespace sotto
