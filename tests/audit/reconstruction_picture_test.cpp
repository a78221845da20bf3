#include "audit/reconstruction_picture.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Pixels of a PGM.
MatrixXd pixels_of(const std::string& picture) {
    int width = 0, height = 0, end = 0;
    EXPECT_EQ(std::sscanf(picture.c_str(), "P5\n%d %d\n255%n", &width, &height, &end), 2);
    EXPECT_EQ(picture.size(), static_cast<std::size_t>(end + 1 + width * height));
    MatrixXd pixels(height, width);
    for (Index y = 0; y < height; ++y)
        for (Index x = 0; x < width; ++x)
            pixels(y, x) = static_cast<unsigned char>(
                picture[static_cast<std::size_t>(end + 1 + y * width + x)]);
    return pixels;
}

TEST(ReconstructionPicture, HasTheTruthAboveTheEstimateAsBrightAsTheTruth) {
    // A row of 2 x 3 values a picture.
    MatrixXd truths(2, 6), estimates(2, 6);
    truths << 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0;
    estimates << 5, 4, 3, 2, 1, -1, 1, 1, 1, 1, 1, 1;
    const MatrixXd pixels = pixels_of(reconstruction_picture(truths, estimates, 2));
    ASSERT_EQ(pixels.rows(), 2 * 2 + 3 * 2);
    ASSERT_EQ(pixels.cols(), 2 * (3 + 2) + 2);
    EXPECT_EQ(pixels.block(2, 2, 2, 3), (MatrixXd(2, 3) << 0, 51, 102, 153, 204, 255).finished());
    EXPECT_EQ(pixels.block(6, 2, 2, 3), (MatrixXd(2, 3) << 255, 204, 153, 102, 51, 0).finished());
    // Nothing is white where the truth is black.
    EXPECT_TRUE(pixels.block(6, 7, 2, 3).isZero(0));
    EXPECT_TRUE((pixels.row(0).array() == 128).all());
    EXPECT_TRUE((pixels.col(5).array() == 128).all());
}

TEST(ReconstructionPicture, ShowsTheFirstFewOnly) {
    const MatrixXd many = MatrixXd::Ones(100, 4);
    const MatrixXd pixels = pixels_of(reconstruction_picture(many, many, 2));
    EXPECT_EQ(pixels.cols(), 12 * (2 + 2) + 2);
    EXPECT_EQ(pixels.rows(), 4 * (2 * 2 + 3 * 2));
}

}  // namespace
}  // namespace sotto
