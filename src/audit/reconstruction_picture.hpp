#pragma once

#include <Eigen/Dense>
#include <string>

namespace sotto {

/// Grey image (PGM, binary) of the first rows: pairs of pictures, the truth above what it was taken
/// for. Every pair is as bright as its truth's largest value is white.
/// @param truths, estimates a picture a row.  @param height of a picture; > 0, divides the row.
[[nodiscard]] std::string reconstruction_picture(const Eigen::MatrixXd& truths,
                                                 const Eigen::MatrixXd& estimates,
                                                 Eigen::Index height);

}  // namespace sotto
