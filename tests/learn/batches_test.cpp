#include "learn/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Rows = std::vector<Eigen::Index>;

Rows batch(BatchSampler& sampler, std::uint64_t round) {
    const auto rows = sampler.rows(round);
    return {rows.begin(), rows.end()};
}

TEST(UniformBatches, HoldDistinctRowsOfTheShard) {
    for (const Eigen::Index records : {1, 2, 17, 128, 1300})
        for (const Eigen::Index size : {Eigen::Index{1}, (records + 1) / 2, records}) {
            BatchSampler sampler = BatchSampler::uniform(records, size, 5, 3);
            for (std::uint64_t round = 0; round < 50; ++round) {
                const Rows rows = batch(sampler, round);
                const std::set<Eigen::Index> distinct(rows.begin(), rows.end());
                ASSERT_EQ(static_cast<Eigen::Index>(rows.size()), size);
                ASSERT_EQ(distinct.size(), rows.size());
                ASSERT_GE(*distinct.begin(), 0);
                ASSERT_LT(*distinct.rbegin(), records);
            }
        }
}

TEST(UniformBatches, DependOnSeedAgentAndRoundOnly) {
    BatchSampler forward = BatchSampler::uniform(200, 30, 11, 4);
    std::vector<Rows> expected;
    for (std::uint64_t round = 0; round < 40; ++round) expected.push_back(batch(forward, round));

    BatchSampler jumping = BatchSampler::uniform(200, 30, 11, 4);
    for (const std::uint64_t round : {39U, 0U, 0U, 17U, 3U, 17U})
        EXPECT_EQ(batch(jumping, round), expected[round]) << "round " << round;

    BatchSampler other_seed = BatchSampler::uniform(200, 30, 12, 4);
    BatchSampler other_agent = BatchSampler::uniform(200, 30, 11, 5);
    EXPECT_NE(batch(other_seed, 0), expected[0]);
    EXPECT_NE(batch(other_agent, 0), expected[0]);
    EXPECT_NE(expected[1], expected[0]);
    EXPECT_NE(batch(forward, std::uint64_t{1} << 40), expected[0]);
}

/// |observed - p trials| <= 5 standard errors of a binomial count.
void expect_count(double observed, double trials, double probability, const std::string& what) {
    const double error = std::sqrt(trials * probability * (1 - probability));
    EXPECT_NEAR(observed, trials * probability, 5 * error) << what;
}

TEST(UniformBatches, ContainEveryRowAndEveryPairEquallyOften) {
    constexpr std::uint64_t seed = 20;
    constexpr Eigen::Index records = 23, size = 7;
    constexpr int rounds = 40000;
    BatchSampler sampler = BatchSampler::uniform(records, size, seed, 0);
    Eigen::MatrixXd together = Eigen::MatrixXd::Zero(records, records);
    Eigen::VectorXd first = Eigen::VectorXd::Zero(records);
    Eigen::MatrixXd successive = Eigen::MatrixXd::Zero(records, records);
    Rows previous;
    for (int round = 0; round < rounds; ++round) {
        const Rows rows = batch(sampler, static_cast<std::uint64_t>(round));
        first[rows[0]] += 1;
        for (const auto a : rows)
            for (const auto b : rows) together(a, b) += 1;
        if (!previous.empty()) successive(previous[0], rows[0]) += 1;
        previous = rows;
    }
    constexpr double n = records, k = size;
    for (Eigen::Index a = 0; a < records; ++a) {
        const std::string what = "seed " + std::to_string(seed) + ", row " + std::to_string(a);
        expect_count(together(a, a), rounds, k / n, what);
        expect_count(first[a], rounds, 1 / n, what + " first");
        for (Eigen::Index b = 0; b < records; ++b) {
            if (a != b)
                expect_count(together(a, b), rounds, k * (k - 1) / (n * (n - 1)), what + " pair");
            expect_count(successive(a, b), rounds - 1, 1 / (n * n), what + " next round");
        }
    }
}

TEST(UniformBatches, LargerThanTheBufferOfRandomWordsDoNotRepeatIt) {
    // Among very many records, row i of the batch is almost the i-th random word, scaled.
    constexpr Eigen::Index records = 2'000'000, size = 6000;
    BatchSampler sampler = BatchSampler::uniform(records, size, 8, 1);
    Eigen::ArrayXd uniform(size);
    const auto rows = sampler.rows(3);
    for (Eigen::Index i = 0; i < size; ++i)
        uniform[i] = static_cast<double>(rows[static_cast<std::size_t>(i)]) / records - 0.5;
    // Variance of a uniform number is 1/12, of the product of two independent ones 1/144.
    EXPECT_NEAR(uniform.mean(), 0, 5 * std::sqrt(1.0 / 12 / size) + 0.002) << "seed 8";
    for (const Eigen::Index lag : {1, 16, 64, 256, 512, 1024, 2048, 4096}) {
        const auto products = uniform.head(size - lag) * uniform.tail(size - lag);
        const double error = std::sqrt(1.0 / 144 / static_cast<double>(size - lag));
        EXPECT_NEAR(products.mean(), 0, 5 * error) << "seed 8, lag " << lag;
    }
}

TEST(CyclicBatches, CoverEveryRecordExactlyOncePerCycle) {
    for (const Eigen::Index records : {1, 5, 20, 101})
        for (const Eigen::Index batches : {Eigen::Index{1}, (records + 1) / 2, records}) {
            BatchSampler sampler = BatchSampler::cyclic(records, batches, 3, 2);
            const Eigen::Index size = (records + batches - 1) / batches;
            for (const std::uint64_t cycle : {0U, 1U, 9U}) {
                std::vector<int> seen(static_cast<std::size_t>(records), 0);
                for (std::uint64_t part = 0; part < static_cast<std::uint64_t>(batches); ++part) {
                    const std::uint64_t round = cycle * static_cast<std::uint64_t>(batches) + part;
                    const Rows rows = batch(sampler, round);
                    EXPECT_LE(static_cast<Eigen::Index>(rows.size()), size);
                    EXPECT_EQ(rows, batch(sampler, part)) << "a record takes part once a cycle";
                    for (const auto row : rows) ++seen[static_cast<std::size_t>(row)];
                }
                EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), records);
            }
        }
}

TEST(CyclicBatches, FollowAnOrderThatDependsOnTheSeed) {
    BatchSampler a = BatchSampler::cyclic(100, 4, 1, 0);
    BatchSampler b = BatchSampler::cyclic(100, 4, 1, 0);
    BatchSampler c = BatchSampler::cyclic(100, 4, 2, 0);
    EXPECT_EQ(batch(a, 6), batch(b, 6));
    EXPECT_NE(batch(a, 6), batch(c, 6));
}

TEST(Batches, RefuseSizesOutsideTheShard) {
    EXPECT_THROW((void)BatchSampler::uniform(10, 0, 1, 0), ConfigError);
    EXPECT_THROW((void)BatchSampler::uniform(10, 11, 1, 0), ConfigError);
    EXPECT_THROW((void)BatchSampler::uniform(0, 0, 1, 0), ConfigError);
    EXPECT_THROW((void)BatchSampler::cyclic(10, 0, 1, 0), ConfigError);
    EXPECT_THROW((void)BatchSampler::cyclic(10, 11, 1, 0), ConfigError);
}

/// Every place of the part whose number and the round's together are a multiple of three.
BatchSampler::Draw every_third() {
    return [](std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen) {
        chosen.clear();
        for (Eigen::Index place = 0; place < records; ++place)
            if ((static_cast<std::uint64_t>(place) + round) % 3 == 0) chosen.push_back(place);
    };
}

TEST(DrawnParts, AreThoseOfTheCycleAndHaveCoinsOfTheirOwnPlaces) {
    for (const Eigen::Index records : {5, 20, 101})
        for (const Eigen::Index parts : {Eigen::Index{2}, (records + 1) / 2, records}) {
            BatchSampler whole = BatchSampler::cyclic(records, parts, 3, 2);
            BatchSampler drawn =
                BatchSampler::drawn_from_parts(records, parts, 3, 2, every_third());
            for (std::uint64_t round = 0; round < 3 * static_cast<std::uint64_t>(parts); ++round) {
                const Rows part = batch(whole, round);
                Rows expected;
                for (std::size_t place = 0; place < part.size(); ++place)
                    if ((place + round) % 3 == 0) expected.push_back(part[place]);
                EXPECT_EQ(batch(drawn, round), expected);
            }
            // Any round again, in any order.
            const Rows again = batch(drawn, 1);
            (void)batch(drawn, 7);
            EXPECT_EQ(batch(drawn, 1), again);
        }
    EXPECT_THROW((void)BatchSampler::drawn_from_parts(10, 11, 1, 0, every_third()), ConfigError);
    EXPECT_THROW((void)BatchSampler::drawn_from_parts(10, 0, 1, 0, every_third()), ConfigError);
}

}  // namespace
}  // namespace sotto
