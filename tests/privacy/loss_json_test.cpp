#include "privacy/loss_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(LossJson, ComesBackAsItWas) {
    const std::vector<SampledRounds> rounds{{1.1, 0.01, 400}, {2.2, 0.05, 200}};
    const PrivacyLoss sampled = PrivacyLoss::sampled(rounds);
    for (const PrivacyLoss& loss : {PrivacyLoss(),
                                    PrivacyLoss::gaussian(1.25),
                                    PrivacyLoss::pure(0),
                                    PrivacyLoss::pure(3),
                                    compose(PrivacyLoss::gaussian(1), PrivacyLoss::pure(3)),
                                    sampled,
                                    compose(sampled, PrivacyLoss::gaussian(2)),
                                    compose(sampled, PrivacyLoss::pure(0.5))})
        EXPECT_EQ(loss_from_json(JsonDocument(loss_json(loss).dump()).root()), loss)
            << loss_json(loss);
    EXPECT_EQ(loss_json(sampled)["sampled_rounds"][1]["count"], 200);
}

TEST(LossJson, IsReadStrictly) {
    for (
        const char* wrong :
        {"{}",
         "[]",
         "3",
         R"({"rho": 1})",
         R"({"mu^2": -1})",
         R"({"mu^2": "1"})",
         R"({"epsilon": null})",
         R"({"sampled_rounds": []})",
         R"({"sampled_rounds": {}})",
         R"({"sampled_rounds": [3]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 1, "x": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 0, "sampling_probability": 0.1, "count": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 1.1, "count": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": -1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 1.5}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 2000000000}]})"})
        EXPECT_THROW((void)loss_from_json(JsonDocument(wrong).root()), DataError) << wrong;
}

}  // namespace
}  // namespace sotto
