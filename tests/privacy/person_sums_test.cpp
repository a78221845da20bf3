#include "privacy/person_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "privacy/protection.hpp"

namespace sotto {
namespace {

TEST(WorstSum, IsTheLargestOfAllSets) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        for (const int power : {1, 2}) {
            SeededRandom random(seed, "worst sum");
            const int n = 7, size = 3;
            Eigen::VectorXd figures(n), allowed(n);
            for (double& figure : figures) figure = random.uniform();
            for (double& limit : allowed) {
                const auto kind = random.below(4);
                limit = kind == 3 ? infinity : 1 + static_cast<double>(kind);
            }
            double largest = 0;
            for_each_coalition(n, size, [&](const std::vector<int>& set) {
                double sum = 0, least = infinity;
                for (const int u : set) {
                    sum += figures(u);
                    least = std::min(least, allowed(u));
                }
                largest = std::max(largest, std::pow(sum, power) / least);
            });
            const WorstSum worst = worst_sum(figures, allowed, size, power);
            EXPECT_NEAR(worst.share, largest, 1e-12) << seed;
        }
}

TEST(WorstSum, NamesItsAgents) {
    Eigen::VectorXd figures(4);
    figures << 1, 5, 2, 4;
    const WorstSum worst = worst_sum(figures, Eigen::VectorXd::Ones(4), 2, 2);
    EXPECT_EQ(worst.agents, (std::vector<int>{1, 3}));
    EXPECT_DOUBLE_EQ(worst.share, 81);
    EXPECT_EQ(worst_sum(figures, Eigen::VectorXd::Constant(4, infinity), 2, 1).share, 0);
    EXPECT_DOUBLE_EQ(worst_sum(figures, Eigen::VectorXd::Ones(4), 9, 1).share,
                     12);  // all there are
}

}  // namespace
}  // namespace sotto
