#include "audit/reconstruction_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index most_columns = 12, most_lines = 4, gap = 2;
constexpr double background = 128;

std::string portable_grey_map(const MatrixXd& pixels) {
    std::string image = fmt::format("P5\n{} {}\n255\n", pixels.cols(), pixels.rows());
    for (Index y = 0; y < pixels.rows(); ++y)
        for (Index x = 0; x < pixels.cols(); ++x)
            image += static_cast<char>(
                static_cast<unsigned char>(std::lround(std::clamp(pixels(y, x), 0.0, 255.0))));
    return image;
}

}  // namespace

std::string reconstruction_picture(const MatrixXd& truths,
                                   const MatrixXd& estimates,
                                   Index height) {
    const Index width = truths.cols() / height;
    const Index shown = std::min<Index>(truths.rows(), most_columns * most_lines);
    const Index columns = std::min(shown, most_columns), lines = (shown + columns - 1) / columns;
    MatrixXd pixels = MatrixXd::Constant(
        lines * (2 * height + 3 * gap), columns * (width + gap) + gap, background);
    for (Index k = 0; k < shown; ++k) {
        const Index top = k / columns * (2 * height + 3 * gap) + gap;
        const Index left = k % columns * (width + gap) + gap;
        const double largest = truths.row(k).maxCoeff();
        const double white = largest > 0 ? 255 / largest : 0;
        for (Index i = 0; i < truths.cols(); ++i) {
            pixels(top + i / width, left + i % width) = white * truths(k, i);
            pixels(top + height + gap + i / width, left + i % width) = white * estimates(k, i);
        }
    }
    return portable_grey_map(pixels);
}

}  // namespace sotto
