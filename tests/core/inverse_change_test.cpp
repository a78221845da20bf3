#include "sotto/core/inverse_change.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <vector>

#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;

MatrixXd any_matrix(Eigen::Index rows, Eigen::Index columns, const char* name) {
    SeededRandom random(1, name);
    MatrixXd matrix(rows, columns);
    for (double& value : matrix.reshaped()) value = random.normal();
    return matrix;
}

TEST(InverseChange, IsTheInverseOfWhatIsLeft) {
    const std::vector<int> support{1, 4, 7, 9}, left_out{0, 5};
    const MatrixXd root = any_matrix(10, 14, "root");
    const MatrixXd factor = 0.2 * any_matrix(4, 3, "factor");
    MatrixXd matrix = root * root.transpose() + MatrixXd::Identity(10, 10);
    const MatrixXd inverse = matrix.inverse();
    for (const auto& out : {std::vector<int>{}, left_out})
        for (const auto& known : {MatrixXd(4, 0), factor}) {
            const InverseChange change(inverse, out, support, known.sparseView());
            ASSERT_GT(change.left(), 0);
            EXPECT_LE(change.left(), 1);
            MatrixXd left = matrix;
            left(support, support) -= known * known.transpose();
            std::vector<int> inside;
            for (int u = 0; u < 10; ++u)
                if (std::ranges::find(out, u) == out.end()) inside.push_back(u);
            const MatrixXd there = left(inside, inside), expected = there.inverse();
            const MatrixXd columns = change.columns(inside);
            EXPECT_LT((columns(inside, Eigen::all) - expected).norm(), 1e-10);
            EXPECT_LT((change.diagonal()(inside) - expected.diagonal()).norm(), 1e-10);
            for (const int u : out) {
                EXPECT_EQ(change.diagonal()(u), 0);
                EXPECT_EQ(columns.row(u).norm(), 0);
            }
        }
}

TEST(InverseChange, SaysThatNothingIsLeftWhereMoreIsKnownThanThereIs) {
    const MatrixXd inverse = MatrixXd::Identity(3, 3);
    MatrixXd factor(1, 1);
    const std::vector<int> support{1};
    for (const auto& [known, left] : {std::pair{0.5, 0.75}, {1.0, 0.0}, {2.0, 0.0}}) {
        factor(0, 0) = known;
        EXPECT_NEAR(InverseChange(inverse, {}, support, factor.sparseView()).left(), left, 1e-15);
    }
}

}  // namespace
}  // namespace sotto
