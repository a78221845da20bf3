#include "audit/hypothesis_signs.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_gram(Eigen::Index rounds, std::uint64_t seed) {
    SeededRandom random(seed, "gram");
    MatrixXd factor(rounds, rounds);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose();
}

double squared(const MatrixXd& gram, const VectorXd& signs) { return signs.dot(gram * signs); }

TEST(HypothesisSigns, AreZeroInRoundsWithoutParticipation) {
    constexpr Eigen::Index rounds = 11;
    const Participation participation{3};
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd gram = random_gram(rounds, seed);
        for (const SignPattern pattern : parse_hypothesis("all")) {
            const VectorXd signs = make_signs(pattern, gram, rounds, participation, seed);
            ASSERT_EQ(signs.size(), rounds);
            Eigen::Index first = -1;
            for (Eigen::Index t = 0; t < rounds; ++t) {
                if (signs(t) == 0) continue;
                if (first < 0) first = t;
                EXPECT_EQ(std::abs(signs(t)), 1);
                EXPECT_EQ((t - first) % 3, 0);
            }
            EXPECT_GE(first, 0);
        }
    }
}

TEST(HypothesisSigns, ConstantStartsWhereItTellsMost) {
    constexpr Eigen::Index rounds = 10;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd gram = random_gram(rounds, seed);
        const VectorXd best = make_signs(SignPattern::constant, gram, rounds, {4}, 1);
        EXPECT_GE(best.minCoeff(), 0);
        for (Eigen::Index first = 0; first < 4; ++first) {
            VectorXd other = VectorXd::Zero(rounds);
            for (Eigen::Index t = first; t < rounds; t += 4) other(t) = 1;
            EXPECT_GE(squared(gram, best), squared(gram, other));
        }
        EXPECT_GE(squared(gram, make_signs(SignPattern::worst, gram, rounds, {4}, 1)),
                  squared(gram, best) * (1 - 1e-12));
    }
}

TEST(HypothesisSigns, DoNotFollowFromRounding) {
    constexpr Eigen::Index rounds = 12;
    const MatrixXd even =
        MatrixXd::Identity(rounds, rounds) + MatrixXd::Constant(rounds, rounds, 0.5);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd rounded = even + 1e-13 * random_gram(rounds, seed);
        for (const SignPattern pattern : parse_hypothesis("all"))
            EXPECT_EQ(make_signs(pattern, rounded, rounds, {4}, 1),
                      make_signs(pattern, even, rounds, {4}, 1));
    }
}

TEST(HypothesisSigns, RandomOnesFollowTheSeedAlone) {
    const auto signs = [](std::uint64_t seed) {
        return make_signs(SignPattern::random, std::nullopt, 64, {1}, seed);
    };
    EXPECT_EQ(signs(3), signs(3));
    EXPECT_NE(signs(3), signs(4));
    EXPECT_LT(std::abs(signs(3).sum()), 5 * std::sqrt(64.0));
    // Without a Gram matrix nothing is known to be worse.
    EXPECT_EQ(make_signs(SignPattern::worst, std::nullopt, 64, {1}, 3), signs(3));
    EXPECT_EQ(make_signs(SignPattern::constant, std::nullopt, 5, {2}, 3),
              (VectorXd(5) << 1, 0, 1, 0, 1).finished());
}

TEST(HypothesisSigns, HaveNames) {
    EXPECT_EQ(parse_hypothesis("all").size(), 3U);
    EXPECT_EQ(parse_hypothesis("worst"), std::vector<SignPattern>{SignPattern::worst});
    EXPECT_THROW((void)parse_hypothesis("best"), ConfigError);
}

}  // namespace
}  // namespace sotto
