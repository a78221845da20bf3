#pragma once

#include <Eigen/Dense>

namespace sotto {

/// A record as an image: rows x columns positions, row by row, at each its channels side by side.
struct ImageShape {
    Eigen::Index rows = 0, columns = 0, channels = 1;
    [[nodiscard]] Eigen::Index positions() const { return rows * columns; }
    [[nodiscard]] Eigen::Index size() const { return rows * columns * channels; }
};

}  // namespace sotto
