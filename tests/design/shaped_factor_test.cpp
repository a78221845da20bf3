#include "sotto/design/shaped_factor.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(BandedFactor, WithAllSubdiagonalsIsTheDenseOne) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long cycle : {3L, 7L, 40L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const double wanted = shaped(mixing, 24, cycle, dense_shape).value;
            const ShapedFactor all = shaped(mixing, 24, cycle, banded_shape(23));
            EXPECT_TRUE(relatively_near(all.value, wanted, 1e-4)) << "cycle " << cycle;
            EXPECT_EQ(all.factor.kind, TemporalFactor::Kind::banded);
            EXPECT_EQ(all.factor.lower.cols(), 24);
        }
}

TEST(BandedFactor, LeavesLessTheWiderItIsWithinItsCertificate) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
        const MixingMatrix mixing = mixing_of(rule);
        double before = INFINITY;
        for (const long band : {1L, 2L, 4L, 5L, 9L, 16L, 23L}) {
            SCOPED_TRACE(testing::Message() << "band " << band);
            const ShapedFactor found = shaped(mixing, 24, 5, banded_shape(band));
            EXPECT_LT(found.value, before * (band == 5 ? 1 + 1e-9 : 1));  // 5: one pattern
            EXPECT_LE(found.lower_bound, found.value * (1 + 1e-12));
            EXPECT_GE(found.lower_bound, found.value * (1 - 1e-5));
            EXPECT_TRUE(relatively_near(cost_of(mixing, found.factor, 24, 5), found.value, 1e-9));
            before = found.value;
        }
    }
}

TEST(ShapedFactor, CostsOneParticipationARoundWhateverBandAndRestart) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    for (const TemporalShape& shape : {dense_shape,
                                       banded_shape(3),
                                       banded_shape(9),
                                       banded_shape(3, 7),
                                       TemporalShape{dense_shape.kind, 0, 10}}) {
        SCOPED_TRACE(name_of(shape));
        const TemporalFactor factor = shaped(mixing, 26, 5, shape).factor;
        const MatrixXd gram = gram_of(factor, 26);
        EXPECT_NEAR(brute_force_sensitivity(gram, 5), 6, 1e-9);
        EXPECT_NEAR(temporal_sensitivity_squared(factor, {5}, 26), 6, 1e-9);
        EXPECT_TRUE(round_precisions(factor, 26).isApprox(VectorXd(gram.diagonal()), 1e-12));
        // Rounds of different blocks share no noise.
        if (shape.restart == 0) continue;
        const MatrixXd lower = dense_factor(factor, 26);
        for (Index t = 0; t < 26; ++t)
            for (Index s = 0; s < t; ++s) {
                if (s / shape.restart == t / shape.restart) continue;
                EXPECT_EQ(lower(t, s), 0);
            }
    }
}

TEST(ShapedFactor, BegunAnewLosesLessTheLongerItsBlocks) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    double before = INFINITY;
    for (const long restart : {1L, 3L, 6L, 12L, 24L}) {
        const double value = shaped(mixing, 24, 5, {dense_shape.kind, 0, restart}).value;
        EXPECT_LT(value, before) << restart;
        before = value;
    }
    EXPECT_TRUE(relatively_near(before, shaped(mixing, 24, 5, dense_shape).value, 1e-6));
}

TEST(ShapedFactor, OfNoBandIsThatOfIndependentRounds) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(test::make_graph(Topology::ring, 6), MixingRule::metropolis);
    const Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(6, 6);
    const std::vector<double> steps{1, 0.5, 0.7, 0.2};
    const ShapedFactor found =
        solve_shaped_factor(mixing, covariance, steps, 1, 1, {TemporalShape::Kind::banded, 0, 0});
    EXPECT_EQ(found.factor.kind, TemporalFactor::Kind::identity);
    const double expected = temporal_utility(mixing, covariance, steps, 1).trace();
    EXPECT_NEAR(found.value, expected, 1e-12 * expected);
    EXPECT_EQ(found.lower_bound, found.value);
}

}  // namespace
}  // namespace sotto
