#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// @throws PrivacyError "no bound is known here for noise that ...".
[[noreturn]] void refuse_noise(const std::string& what);

/// Whether the spatial covariance describes the plan: Gaussian, the same to every receiver.
[[nodiscard]] bool is_spatial(const NoisePlan& plan);

/// 1^T (Q Q^T)^+ 1 of every agent, Q (receivers other than itself x streams) the coefficients of
/// its rows times the scale: the precision of all its messages of one round about their common
/// part. Laplace: the squared inverse scale, if all carry the same noise. Infinite for the
/// coalition itself, and if the noise cancels in a combination of messages.
/// @throws PrivacyError for a stream that several agents hold.
[[nodiscard]] Eigen::VectorXd message_precision(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// sum_v beta_v of every agent: its own copy's noise as a combination of the others'; 1 if all
/// receive the same message.
/// @throws PrivacyError if it is no such combination.
[[nodiscard]] Eigen::VectorXd own_copy_weight(const NoisePlan& plan);

}  // namespace sotto
