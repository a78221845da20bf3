#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Eigenvalues up to this share of the largest count as zero.
inline constexpr double rank_cut_off = 1e-11;
/// Components of a unit vector larger than this lie outside the range of such a matrix.
inline constexpr double outside_range = 1e-9;

/// scale F of what a coalition does not know, agents x streams: streams whose seed a member holds,
/// and the members' own rows, are left out. Rows for single receivers too.
[[nodiscard]] Eigen::SparseMatrix<double> unknown_coefficients(const NoisePlan& plan,
                                                               std::span<const int> coalition);

/// True where the coalition cannot compute stream k.
[[nodiscard]] std::vector<bool> unknown_streams(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// F F^T, dense product where F is nearly full.
[[nodiscard]] Eigen::MatrixXd outer_product(const Eigen::SparseMatrix<double>& coefficients);

/// [(R^(I))^-1]_uu of every agent; see observed_precision. Says nothing about receivers, time or
/// distribution.
[[nodiscard]] Eigen::VectorXd unknown_precision(const NoisePlan& plan,
                                                std::span<const int> coalition);

}  // namespace sotto
