#include "views/tight_sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

Eigen::MatrixXd random_gram(int size) {
    SeededRandom random(6, "bounded gram", static_cast<std::uint64_t>(size));
    Eigen::MatrixXd factor(size, size);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor.transpose() * factor;
}

TEST(BoundedGramSensitivity, WithoutABoundIsThatOfTheGramMatrix) {
    const Eigen::MatrixXd gram = random_gram(9);
    const std::vector<long> rounds{0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (const long cycle : {1L, 2L, 4L}) {
        const auto bounded = bounded_gram_sensitivity(
            gram, rounds, {cycle}, 1e-6, std::numeric_limits<double>::infinity());
        const auto plain = gram_sensitivity(gram, {cycle}, 1e-6);
        EXPECT_EQ(bounded.constant_sign, plain.constant_sign);
        EXPECT_EQ(bounded.abs_sum, plain.abs_sum);
        EXPECT_EQ(bounded.tight_lower, plain.tight_lower);
        EXPECT_EQ(bounded.tight_upper, plain.tight_upper);
    }
}

TEST(BoundedGramSensitivity, NeverExceedsTheBound) {
    const Eigen::MatrixXd gram = random_gram(9);
    const std::vector<long> rounds{0, 1, 2, 3, 4, 5, 6, 7, 8};
    const double tight = bounded_gram_sensitivity(gram, rounds, {1}, 1e-6, 1e300).tight_lower;
    const auto bounded = bounded_gram_sensitivity(gram, rounds, {1}, 1e-6, 1.1 * tight);
    EXPECT_LE(bounded.tight_upper, 1.1 * tight);
    EXPECT_GE(bounded.tight_upper, tight);
    EXPECT_GT(bounded.abs_sum, 1.1 * tight) << "a figure of its own";
}

using namespace test;

TEST(GramSensitivity, OfThreeOpposedRoundsIsReachedByVectorsAtAnAngle) {
    Eigen::MatrixXd gram(3, 3);
    gram << 1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1;
    const SquaredSensitivity found = gram_sensitivity(gram, {1}, 1e-8);
    EXPECT_NEAR(found.constant_sign, 0, 1e-15);
    EXPECT_DOUBLE_EQ(found.abs_sum, 6);
    EXPECT_NEAR(found.tight_lower, 4.5, 1e-7);
    EXPECT_NEAR(found.tight_upper, 4.5, 1e-7);
    EXPECT_LE(found.tight_lower, 4.5 * (1 + 1e-14));
    EXPECT_GE(found.tight_upper, 4.5 * (1 - 1e-14));
    EXPECT_EQ(found.trivial, infinity);
    EXPECT_EQ(found.certified(), found.tight_upper);
}

TEST(GramSensitivity, IsTheWorstPattern) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(5, 5);
    gram(1, 3) = gram(3, 1) = -0.5;
    const SquaredSensitivity found = gram_sensitivity(gram, {2}, 1e-8);
    EXPECT_DOUBLE_EQ(found.constant_sign, 3);  // rounds 0, 2, 4
    EXPECT_DOUBLE_EQ(found.abs_sum, 3);        // rounds 1, 3 with opposite signs: 3 too
    EXPECT_NEAR(found.tight_lower, 3, 1e-7);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {100}, 1e-8).abs_sum, 1);
}

TEST(GramSensitivity, IsOfTrainingRounds) {
    const Eigen::MatrixXd gram = Eigen::Vector4d(1, 2, 4, 8).asDiagonal();
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8).tight_upper, 10);
    // The last two do the first two again.
    const std::vector<long> again{0, 1, 0, 1}, twice{0, 1, 1, 2};
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8, again).tight_upper, 10);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {50}, 1e-8, again).tight_upper, 10);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8, twice).tight_upper, 9);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {3}, 1e-8, twice).constant_sign, 8);
    const std::vector<long> few{0, 1}, negative{0, 1, -1, 2};
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)gram_sensitivity(gram, {2}, 1e-8, few);
              }).find("2 training rounds are given, it has 4 rows"),
              std::string::npos);
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)gram_sensitivity(gram, {2}, 1e-8, negative);
              }).find("-1 is not allowed"),
              std::string::npos);
}

TEST(GramSensitivity, IsCertifiedForRandomMatrices) {
    for (const int size : {2, 7, 30, 90}) {
        SeededRandom random(4, "gram", static_cast<std::uint64_t>(size));
        Eigen::MatrixXd factor(size, size);
        for (double& value : factor.reshaped()) value = random.normal();
        const Eigen::MatrixXd gram = factor.transpose() * factor;
        const SquaredSensitivity found = gram_sensitivity(gram, {1}, 1e-5);
        EXPECT_LE(found.tight_upper, found.tight_lower * (1 + 1e-4));
        EXPECT_LE(found.tight_upper, found.abs_sum);
        EXPECT_LE(found.tight_lower, size * symmetric_eigenvalues(gram)(size - 1));
        // Signs are unit vectors.
        for (int trial = 0; trial < 200; ++trial) {
            Eigen::VectorXd signs(size);
            for (double& value : signs) value = random.uniform() < 0.5 ? -1 : 1;
            EXPECT_LE(signs.dot(gram * signs), found.tight_upper * (1 + 1e-12));
        }
    }
}

Eigen::MatrixXd random_gram(int size, std::uint64_t seed) {
    SeededRandom random(seed, "worst signs");
    Eigen::MatrixXd factor(size, size);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor.transpose() * factor;
}

TEST(WorstSigns, AreTheBestOfAllOfSmallMatrices) {
    constexpr int size = 8;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        const Eigen::MatrixXd gram = random_gram(size, seed);
        double best = 0;
        for (int bits = 0; bits < 1 << size; ++bits) {
            Eigen::VectorXd signs(size);
            for (int t = 0; t < size; ++t) signs(t) = (bits >> t) % 2 == 0 ? 1 : -1;
            best = std::max(best, signs.dot(gram * signs));
        }
        const Eigen::VectorXd found = worst_signs(gram, {1});
        EXPECT_EQ(found.cwiseAbs(), Eigen::VectorXd::Ones(size));
        EXPECT_NEAR(found.dot(gram * found), best, 1e-9 * best) << "seed " << seed;
    }
}

TEST(WorstSigns, AreOfOnePattern) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(5, 5);
    gram(1, 3) = gram(3, 1) = -0.9;
    const Eigen::VectorXd found = worst_signs(gram, {2});
    // Rounds 1 and 3 with opposite signs: 3.8; rounds 0, 2 and 4: 3.
    EXPECT_EQ(found.cwiseAbs(), (Eigen::VectorXd(5) << 0, 1, 0, 1, 0).finished());
    EXPECT_EQ(found(1), -found(3));
}

using Patterns = std::vector<std::vector<Eigen::Index>>;

TEST(ParticipationPatterns, AreTheRoundsACycleApart) {
    const std::vector<long> rounds{0, 1, 2, 3, 4};
    EXPECT_EQ(participation_patterns(rounds, {1}), (Patterns{{0, 1, 2, 3, 4}}));
    EXPECT_EQ(participation_patterns(rounds, {2}), (Patterns{{0, 2, 4}, {1, 3}}));
    EXPECT_EQ(participation_patterns(rounds, {3}), (Patterns{{0, 3}, {1, 4}, {2}}));
    EXPECT_EQ(participation_patterns(rounds, {1000}).size(), 5U);
}

TEST(ParticipationPatterns, GoByTrainingRounds) {
    const std::vector<long> again{0, 1, 2, 1, 2, 3};
    EXPECT_EQ(participation_patterns(again, {2}), (Patterns{{0, 2, 4}, {1, 3, 5}}));
    EXPECT_EQ(participation_patterns(again, {4}), (Patterns{{0}, {1, 3}, {2, 4}, {5}}));
}

}  // namespace
}  // namespace sotto
