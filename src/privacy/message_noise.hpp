#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// @throws PrivacyError "no bound is known here for noise that ...".
[[noreturn]] void refuse_noise(const std::string& what);

/// Whether the spatial covariance says all about a plan: Gaussian, the same to every receiver.
[[nodiscard]] bool is_spatial(const NoisePlan& plan);

/// 1^T (Q Q^T)^+ 1 of every agent, Q (receivers other than itself x streams) the coefficients of
/// its rows times the scale: how sharply all its messages of one round together show what they have
/// in common. Laplace: the squared inverse scale, where all of them carry the same noise. Infinite
/// where the messages' noise cancels in some combination of them, and for the coalition itself.
/// @throws PrivacyError for a stream that several agents hold.
[[nodiscard]] Eigen::VectorXd message_precision(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// sum_v beta_v of every agent: its own copy's noise as combination of the others'. 1 where all
/// receive the same message. @throws PrivacyError where it is none.
[[nodiscard]] Eigen::VectorXd own_copy_weight(const NoisePlan& plan);

}  // namespace sotto
