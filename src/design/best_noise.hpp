#pragma once

#include <Eigen/Dense>
#include <functional>

namespace sotto {

/// R for a given M, and what it costs.
struct NoiseAnswer {
    Eigen::MatrixXd covariance;
    double value = 0;  ///< Tr(M R), or the smooth function near it whose derivative by M is R
};

/// The R that answers M best among some. Its set of R does not depend on M, so that the derivative
/// of the value by M is R (envelope theorem). [R^-1]_uu <= 1 for all agents.
using BestNoise = std::function<NoiseAnswer(const Eigen::MatrixXd& utility)>;

/// Always this R.
[[nodiscard]] BestNoise given_noise(Eigen::MatrixXd covariance);

/// Any R, by the dual of solve_spatial_covariance, and its value Tr((M + price I) R): variance has
/// a price of its own, which stands for what noise that must not cancel against anybody costs. To M
/// 1e-8 of its mean eigenvalue is added too, so that R stays finite and the value smooth where M is
/// (nearly) singular. Every answer starts from the one before: the order of calls matters, to the
/// gap of 1e-7. Cost: two to ten eigendecompositions and Newton systems.
/// @param price >= 0.
[[nodiscard]] BestNoise free_noise(double price = 0);

}  // namespace sotto
