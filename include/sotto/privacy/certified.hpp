#pragma once

namespace sotto {

/// A figure that is claimed, and how far below it the truth can lie.
struct Certified {
    double upper = 0;  ///< holds
    double lower = 0;  ///< nothing below it holds; equal to `upper` where the figure is exact
};

}  // namespace sotto
