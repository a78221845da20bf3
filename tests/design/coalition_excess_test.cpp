#include "design/coalition_excess.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "design/coalition_fixtures.hpp"
#include "design/group_layout_fixtures.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(LargestExcess, IsThatOfTheWorstCoalition) {
    const GroupLayout layout(8, all_pairs(8), GroupNoise::difference, false);
    const VectorXd values = any_values(layout), kappa = random_kappa(8, 2);
    for (const int q : {0, 1, 2}) {
        double worst = 0;
        for_each_coalition(8, q, [&](const Coalition& coalition) {
            const std::vector<int> outside = agents_outside(coalition, 8);
            const MatrixXd unknown = covariance_unknown_to(coalition,
                                                           private_variance_of(layout, values),
                                                           layout_blocks(layout, values),
                                                           layout.groups());
            const VectorXd precision = precision_of(unknown(outside, outside));
            const double excess = precision.cwiseQuotient(kappa(outside)).maxCoeff();
            worst = std::max(worst, excess);
            EXPECT_NEAR(
                excesses(layout, values, kappa, {coalition}).front(), excess, 1e-10 * excess);
        });
        EXPECT_NEAR(largest_excess(layout, values, kappa, q), worst, 1e-10 * worst);
    }
}

TEST(ExcessOfAgents, IsThatOfTheWorstCoalitionOfEach) {
    const GroupLayout layout(8, all_pairs(8), GroupNoise::difference, false);
    const VectorXd values = any_values(layout), kappa = random_kappa(8, 2);
    std::vector<Coalition> coalitions;
    VectorXd worst = VectorXd::Zero(8);
    for_each_coalition(8, 2, [&](const Coalition& coalition) {
        coalitions.push_back(coalition);
        const std::vector<int> outside = agents_outside(coalition, 8);
        const MatrixXd unknown = covariance_unknown_to(coalition,
                                                       private_variance_of(layout, values),
                                                       layout_blocks(layout, values),
                                                       layout.groups());
        const VectorXd excess =
            precision_of(unknown(outside, outside)).cwiseQuotient(kappa(outside));
        for (std::size_t i = 0; i < outside.size(); ++i)
            worst(outside[i]) = std::max(worst(outside[i]), excess(static_cast<Eigen::Index>(i)));
    });
    const VectorXd found = excess_of_agents(layout, values, kappa, coalitions);
    EXPECT_LT((found - worst).cwiseQuotient(worst).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(LargestExcess, IsInfiniteWithoutNoise) {
    const GroupLayout layout(4, all_pairs(4), GroupNoise::difference, false);
    EXPECT_EQ(largest_excess(layout, VectorXd::Zero(layout.size()), VectorXd::Ones(4), 1),
              infinity);
    EXPECT_FALSE(inverse_of(layout, VectorXd::Zero(layout.size())));
}

TEST(PartsOfCoalitions, AreAllCoalitionsOnce) {
    std::size_t count = 0;
    for_each_part_of_coalitions(150, 2, [&](const std::vector<Coalition>& part) {
        EXPECT_LE(part.size(), 4096U);
        count += part.size();
    });
    EXPECT_EQ(count, 150U * 149U / 2);
}

}  // namespace
}  // namespace sotto
