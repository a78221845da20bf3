#include "noise/mixing_modes.hpp"

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

MixingModes mixing_modes(const MixingMatrix& mixing, int gossip_steps) {
    SymmetricEigen eigen = symmetric_eigen(mixing.dense());
    return {eigen.values.array().pow(static_cast<double>(gossip_steps)).matrix(),
            std::move(eigen.vectors)};
}

Eigen::VectorXd mode_weights(const MixingModes& modes, const Eigen::MatrixXd& covariance) {
    return (modes.vectors.transpose() * covariance * modes.vectors).diagonal();
}

}  // namespace sotto
