#include "privacy/sum_hiding_json.hpp"

#include <gtest/gtest.h>

#include "privacy/sum_fixtures.hpp"

namespace sotto {
namespace {

using OrderedJson = nlohmann::ordered_json;

TEST(SumHidingJson, HasAnEntryForEveryNumberOfColluders) {
    const OrderedJson json = json_of(test::five_agents());
    EXPECT_EQ(json["withstand"], 1);
    EXPECT_EQ(json["rounds"], 2);
    EXPECT_EQ(json["gossip_steps"], 1);
    EXPECT_EQ(json["mask_partners"], 16);
    EXPECT_TRUE(json["known"].is_null());
    ASSERT_EQ(json["against"].size(), 3U);
    const OrderedJson& one = json["against"][0];
    EXPECT_EQ(one["exposed"], OrderedJson::array());
    EXPECT_EQ(one["smallest_sum"], 3);
    EXPECT_EQ(one["least_hidden"], 0.8164);
    EXPECT_TRUE(one["worst"].is_null());
    const OrderedJson& two = json["against"][1];
    EXPECT_EQ(two["colluders"], 2);
    EXPECT_EQ(two["computed"], true);
    EXPECT_EQ(two["exposed"], OrderedJson::array({0, 1}));
    EXPECT_EQ(two["exposed_in_every_round"], OrderedJson::array({0}));
    EXPECT_EQ(two["rounds_exposed"], OrderedJson::array({2, 1, 0, 0, 0}));
    EXPECT_EQ(two["worst"]["colluders"], OrderedJson::array({0, 2}));
    EXPECT_EQ(two["worst"]["exposed"], OrderedJson::array({1}));
    EXPECT_EQ(two["worst"]["round"], 1);
    EXPECT_EQ(json["against"][2].dump(), R"({"colluders":3,"computed":false})");
}

TEST(SumHidingJson, HasNullForWhatWasNotCounted) {
    SumHiding hiding = test::five_agents();
    hiding.against[0].smallest_sum.reset();
    hiding.known = SumExample{{0, 3, 4}, {2}, 0};
    const OrderedJson json = json_of(hiding);
    EXPECT_TRUE(json["against"][0]["smallest_sum"].is_null());
    EXPECT_EQ(json["known"]["exposed"], OrderedJson::array({2}));
}

}  // namespace
}  // namespace sotto
