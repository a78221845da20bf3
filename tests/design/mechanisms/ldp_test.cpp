#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Ldp, GivesEveryAgentItsOwnVariance) {
    for (const auto& setting : settings({6})) {
        const Eigen::VectorXd kappa = random_kappa(6, unequal_kappa_seed);
        const Design design = design_of("ldp", setting.input(10, kappa));
        EXPECT_TRUE(spatial_covariance(design.plan)
                        .isApprox(kappa.cwiseInverse().asDiagonal().toDenseMatrix(), 1e-12));
        EXPECT_EQ(design.plan.streams_per_agent(), 1);
    }
}

}  // namespace
}  // namespace sotto
