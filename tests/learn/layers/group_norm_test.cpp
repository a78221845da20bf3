#include "learn/layers/group_norm.hpp"

#include <gtest/gtest.h>

#include "learn/layers/layer_checks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_a_layer;
using test::Setting;

TEST(GroupNormLayer, IsDifferentiatedRecordByRecord) {
    expect_a_layer(*make_group_norm_layer({3, 2, 6}, 2));
}

TEST(GroupNormLayer, GivesEveryGroupOfARecordMeanZeroAndVarianceOne) {
    const auto layer = make_group_norm_layer({4, 4, 6}, 3);
    Setting setting(*layer, 2, 9);
    SeededRandom unused(1, "test");
    layer->initialise(unused, setting.parameters);
    setting.in.array() += 100;
    const Eigen::MatrixXd out = setting.outputs();
    for (const Eigen::Index record : {0, 1})
        for (const Eigen::Index group : {0, 1, 2}) {
            const Eigen::MatrixXd values = out.col(record).reshaped(6, 16).middleRows(2 * group, 2);
            EXPECT_NEAR(values.mean(), 0, 1e-10);
            EXPECT_NEAR(values.squaredNorm() / 32, 1, 1e-4);  // but for the floor of the variance
        }
}

TEST(GroupNormLayer, RefusesGroupsOfUnequalSize) {
    EXPECT_THROW((void)make_group_norm_layer({2, 2, 6}, 4), ConfigError);
}

}  // namespace
}  // namespace sotto
