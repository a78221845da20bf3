#include "account/sampled_conversion.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(SampledConversion, ReadsPhases) {
    const std::vector<SampledRounds> phases{{1, 0.01, 400}, {2.5, 1, 3}};
    EXPECT_EQ(parse_sampled_rounds("--sampled-rounds", "1:0.01:400,2.5:1:3"), phases);
    for (const char* wrong : {"",
                              "1:0.1",
                              "1:0.1:3:4",
                              "1:0.1:3,",
                              "a:0.1:3",
                              "1:b:3",
                              "1:0.1:c",
                              "1:0.1:1.5",
                              "0:0.1:3",
                              "-1:0.1:3",
                              "nan:0.1:3",
                              "1:0:3",
                              "1:1.5:3",
                              "1:nan:3",
                              "1:0.1:0",
                              "1:0.1:-3"})
        EXPECT_THROW((void)parse_sampled_rounds("--sampled-rounds", wrong), ConfigError) << wrong;
}

TEST(SampledConversion, SaysEpsilonFromBothSides) {
    const std::vector<SampledRounds> phases{{1, 0.01, 400}, {2, 0.05, 200}};
    const auto json =
        nlohmann::json::parse(sampled_conversion_json(convert_sampled_rounds(phases, 1e-5)));
    EXPECT_NEAR(json["epsilon"], 1.954, 1e-3);
    EXPECT_LT(json["epsilon_lower"], json["epsilon"]);
    EXPECT_TRUE(json["noise_multiplier"].is_null());
    EXPECT_TRUE(json["sampling_probability"].is_null());
    EXPECT_EQ(json["rounds"], 600);
    EXPECT_EQ(json["sampled_rounds"][1]["noise_multiplier"], 2);
}

TEST(SampledConversion, FindsTheNoiseOfABudget) {
    const SampledConversion found = convert_sampled_budget(1, 1e-5, 0.01, 1000);
    EXPECT_LE(found.epsilon, 1);
    EXPECT_GT(found.epsilon, 0.999);
    const auto json = nlohmann::json::parse(sampled_conversion_json(found));
    EXPECT_NEAR(json["noise_multiplier"], 1.416, 2e-3);
    EXPECT_EQ(json["sampling_probability"], 0.01);
    EXPECT_NE(sampled_conversion_text(found).find("certified"), std::string::npos);
}

}  // namespace
}  // namespace sotto
