#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/views/view.hpp"

namespace sotto {

/// Bounds of max sum_st Gram_st <g_s, g_t> over vectors |g_t| <= 1, any dimension:
/// max Tr(Gram Y), Y_tt = 1, Y >= 0.
struct TightBounds {
    double lower = 0;
    double upper = 0;
};
/// Block coordinate ascent on unit vectors; the certificate is sum y + n max(0, -lambda_min(Diag y
/// - Gram)), y_t = sum_s Gram_st <g_s, g_t>.
/// @param known_upper any bound known beforehand; the search ends when `lower` meets it.
[[nodiscard]] TightBounds tight_bounds(const Eigen::MatrixXd& gram,
                                       double relative_gap,
                                       double known_upper);

/// The rounds in which somebody can take part, of every pattern: those whose training rounds are
/// first, first + cycle, ...
[[nodiscard]] std::vector<std::vector<Eigen::Index>> participation_patterns(
    std::span<const long> training_rounds, const Participation& participation);

/// As gram_sensitivity, with a bound on every pattern known beforehand.
[[nodiscard]] SquaredSensitivity bounded_gram_sensitivity(const Eigen::MatrixXd& gram,
                                                          std::span<const long> training_rounds,
                                                          const Participation& participation,
                                                          double tight_gap,
                                                          double known_upper);

}  // namespace sotto
