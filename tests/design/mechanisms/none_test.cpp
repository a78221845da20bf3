#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(None, HasAGridOnWhichClippedGradientsOfAnyNormAddUpExactly) {
    const auto setting = settings({5}).front();
    DesignInput input = setting.input(1);
    for (const double clip : {1e-3, 1.0, 8191.0, 8192.0, 1e5, 3e20}) {
        input.clip_norm = clip;
        const double step = design_of("none", input).plan.grid_step();
        EXPECT_LT(clip / step, 0x1p53);
        EXPECT_EQ(step == 0x1p-40, clip < 8192) << clip;
    }
}

TEST(None, AddsNothing) {
    const Design design = design_of("none", settings({5}).front().input(1));
    EXPECT_TRUE(design.plan.noiseless());
    EXPECT_EQ(design.plan.scale, 0.0);
    EXPECT_EQ(design.objective, 0.0);
    EXPECT_FALSE(find_mechanism("mechanism", "none").needs_budget);
}

}  // namespace
}  // namespace sotto
