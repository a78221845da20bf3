#include "sotto/privacy/sampled_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

TEST(SampledRounds, OfOneKindMerge) {
    const std::vector<SampledRounds> rounds{
        {2, 0.1, 3}, {1, 0.5, 1}, {2, 0.1, 4}, {1, 0, 9}, {3, 0.5, 0}, {infinity, 0.5, 8}};
    const std::vector<SampledRounds> merged{{1, 0.5, 1}, {2, 0.1, 7}};
    EXPECT_EQ(merged_rounds(rounds), merged);
}

TEST(SampledRounds, ThatCannotBeAreRefused) {
    for (const SampledRounds& wrong : {SampledRounds{0, 0.5, 1},
                                       SampledRounds{-1, 0.5, 1},
                                       SampledRounds{not_a_number, 0.5, 1},
                                       SampledRounds{1, -0.1, 1},
                                       SampledRounds{1, 1.1, 1},
                                       SampledRounds{1, not_a_number, 1},
                                       SampledRounds{1, 0.5, -1},
                                       SampledRounds{1, 0.5, most_sampled_rounds + 1}})
        EXPECT_THROW((void)merged_rounds({&wrong, 1}), PrivacyError);
    const std::vector<SampledRounds> many{{1, 0.5, most_sampled_rounds}, {2, 0.5, 1}};
    EXPECT_THROW((void)merged_rounds(many), PrivacyError);
}

TEST(SampledRounds, HaveTheEpsilonsOfAnIndependentAccountant) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/amplification.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_GT(golden.at("rows").size(), 10U);
    for (const auto& row : golden.at("rows")) {
        std::vector<SampledRounds> rounds;
        for (const auto& one : row.at("rounds"))
            rounds.push_back(
                {one.at("noise_multiplier"), one.at("sampling_probability"), one.at("count")});
        const Certified epsilon = PrivacyLoss::sampled(rounds).epsilon(row.at("delta"));
        const double upper = row.at("epsilon_upper"), lower = row.at("epsilon_lower");
        EXPECT_LE(epsilon.lower, epsilon.upper) << row;
        EXPECT_LE(epsilon.upper, upper * 1.0005) << row;
        EXPECT_GE(epsilon.upper, lower) << row;
        EXPECT_LE(epsilon.upper - epsilon.lower, 1e-3 * epsilon.upper) << row;
    }
}

TEST(SampledRounds, ThatAreAlwaysThereAreGaussian) {
    const SampledRounds rounds{10, 1, 100};
    const PrivacyLoss loss = PrivacyLoss::sampled({&rounds, 1});
    EXPECT_DOUBLE_EQ(loss.mu().value(), 1);
    EXPECT_DOUBLE_EQ(loss.epsilon(1e-5).upper, gdp_epsilon(1, 1e-5));
}

}  // namespace
}  // namespace sotto
