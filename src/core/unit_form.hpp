#pragma once

#include <Eigen/Dense>

namespace sotto {

/// Bounds of max sum_st Gram_st <g_s, g_t> over vectors |g_t| <= 1 of any dimension: max Tr(Gram
/// Y), Y_tt = 1, Y >= 0.
struct TightBounds {
    double lower = 0;
    double upper = 0;
};
/// Block coordinate ascent on unit vectors, with the dual certificate sum y + n max(0,
/// -lambda_min(Diag y - Gram)), y_t = sum_s Gram_st <g_s, g_t>.
/// @param known_upper an upper bound; the search ends when `lower` meets it.
[[nodiscard]] TightBounds tight_bounds(const Eigen::MatrixXd& gram,
                                       double relative_gap,
                                       double known_upper);

}  // namespace sotto
