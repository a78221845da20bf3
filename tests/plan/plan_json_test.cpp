#include "sotto/plan/plan_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "plan/plan_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using test::contains;
using test::dense_plan;
using test::message_of;
using test::noiseless_plan;
using test::sample_plan;
using test::unusual_plan;

TEST(NoisePlanJson, GivesBackEveryPlanExactly) {
    for (const auto& make : {sample_plan, unusual_plan, dense_plan, noiseless_plan}) {
        const NoisePlan plan = make();
        const NoisePlan back = plan_from_json(to_json(plan), "test");
        EXPECT_EQ(back.hash(), plan.hash());
        EXPECT_EQ(to_json(back), to_json(plan));
    }
}

TEST(NoisePlanJson, GivesBackNumbersBitForBit) {
    constexpr std::uint64_t seed = 11;
    SeededRandom random(seed, "plan coefficients");
    for (int repetition = 0; repetition < 200; ++repetition) {
        NoisePlan plan = sample_plan();
        plan.entry = NoiseEntry::message;  // whose quietest noise bounds no grid here
        plan.grid_step_log2 = 200;
        plan.scale = std::exp(10 * random.normal());
        for (auto& row : plan.rows)
            for (double& value : row.coefficients)
                value = random.normal() * std::exp(random.normal());
        plan.rows[0].coefficients[0] = std::numeric_limits<double>::denorm_min();
        plan.rows[0].coefficients[1] = std::ldexp(random.normal(), 160);
        plan.rows[0].coefficients[2] = -0.0;
        ASSERT_EQ(plan_from_json(to_json(plan), "test").hash(), plan.hash()) << "seed " << seed;
    }
}

TEST(NoisePlanJson, KeepsStreamIndicesOf64Bits) {
    NoisePlan plan = sample_plan();
    plan.streams[3].index = ~std::uint64_t{0};
    EXPECT_EQ(plan_from_json(to_json(plan), "test").streams[3].index, ~std::uint64_t{0});
}

TEST(NoisePlanJson, SaysWhatItIs) {
    const auto json = nlohmann::json::parse(to_json(sample_plan()));
    EXPECT_EQ(json["format"], "sotto-plan");
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["mechanism"], "hand-made");
}

TEST(NoisePlanJson, RefusesTextThatIsNotAPlan) {
    const std::string whole = to_json(sample_plan());
    std::vector<std::string> texts{"",
                                   "not json",
                                   "{}",
                                   "[]",
                                   "null",
                                   "3",
                                   "\"text\"",
                                   "{\"format\":\"sotto-ledger\",\"version\":1}",
                                   std::string(1000, '['),
                                   std::string("\0\xff\xfe", 3),
                                   whole + "x",
                                   whole.substr(0, whole.size() / 2),
                                   whole.substr(0, whole.size() - 3)};
    for (const auto& text : texts)
        EXPECT_TRUE(contains(
            message_of<DataError>([&] { (void)plan_from_json(text, "plan.json"); }), "plan.json"))
            << text.substr(0, 60);
}

TEST(NoisePlanJson, RefusesAMissingOrMistypedField) {
    const auto good = nlohmann::json::parse(to_json(sample_plan()));
    for (const auto& [key, value] : good.items()) {
        auto json = good;
        json.erase(key);
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " missing";
        json = good;
        json[key] = nullptr;
        if (key != "seed_groups" && key != "streams" && key != "rows") {
            EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " null";
        }
        json[key] = {{"unexpected", "object"}};
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " object";
    }
    for (const char* path : {"/temporal/kind",
                             "/temporal/lower",
                             "/streams/0/group",
                             "/streams/0/index",
                             "/streams/0/distribution",
                             "/rows/0/sender",
                             "/rows/0/receiver",
                             "/rows/0/streams",
                             "/rows/0/coefficients"}) {
        auto json = good;
        json[nlohmann::json::json_pointer(path)] = {{"unexpected", "object"}};
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << path;
    }
}

TEST(NoisePlanJson, RefusesAnotherFormatOrVersion) {
    for (const char* change : {R"([{"op":"replace","path":"/format","value":"sotto-run"}])",
                               R"([{"op":"replace","path":"/version","value":2}])"}) {
        const auto json =
            nlohmann::json::parse(to_json(sample_plan())).patch(nlohmann::json::parse(change));
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << change;
    }
}

TEST(NoisePlanJson, RefusesUnknownNamesAndSuggestsTheNearest) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["entry"] = "gradiant";
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)plan_from_json(json.dump(), "test"); }),
                         "did you mean 'gradient'?"));
}

TEST(NoisePlanJson, RefusesATemporalFactorWithUnevenRows) {
    auto json = nlohmann::json::parse(to_json(dense_plan()));
    json["temporal"]["lower"][1] = {1.0, 1.0};
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)plan_from_json(json.dump(), "test"); }),
                         "differ in length"));
}

TEST(NoisePlanJson, RefusesAWellFormedPlanThatIsInvalid) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["scale"] = -1.0;
    EXPECT_THROW((void)plan_from_json(json.dump(), "test"), PrivacyError);
    // A number too large for a double must not turn into an infinite coefficient.
    std::string text = to_json(sample_plan());
    text.replace(text.find("\"scale\":0.1"), 11, "\"scale\":1e999");
    EXPECT_THROW((void)plan_from_json(text, "test"), Error);
}

TEST(NoisePlanJson, RefusesNestingThatWouldOverflowTheStack) {
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    for (const char* field : {"\"agents\":", "\"mechanism\":", "\"more\":"}) {
        std::string text = to_json(sample_plan());
        const std::string wanted = field;
        if (const auto at = text.find(wanted); at != std::string::npos)
            text.replace(at, text.find(',', at) - at, wanted + deep);
        else
            text.insert(1, wanted + deep + ",");
        EXPECT_THROW((void)plan_from_json(text, "test"), DataError) << field;
    }
}

TEST(NoisePlanJson, RefusesNumbersThatDoNotFitTheirField) {
    // Cut to 32 bits, these would name an agent or a stream that exists.
    for (const auto& [path, value] :
         std::vector<std::pair<const char*, nlohmann::json>>{{"/agents", 4294967299},
                                                             {"/agents", 3.5},
                                                             {"/rows/0/sender", 4294967296},
                                                             {"/rows/0/streams/0", 4294967296},
                                                             {"/seed_groups/0/0", 4294967296},
                                                             {"/seed_groups/0/0", 0.5},
                                                             {"/streams/0/group", 4294967296},
                                                             {"/streams/0/index", -1},
                                                             {"/streams/3/index", 7.5}}) {
        auto json = nlohmann::json::parse(to_json(sample_plan()));
        json[nlohmann::json::json_pointer(path)] = value;
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), Error) << path << " " << value;
    }
}

}  // namespace
}  // namespace sotto
