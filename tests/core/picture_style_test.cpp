#include "core/picture_style.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sotto {
namespace {

TEST(PictureLook, GivesEveryCurveALookOfItsOwn) {
    // All of the first three have the same look of their own.
    std::vector<std::string> names{"mafalda", "homomorphic", "secure sums", "ldp"};
    for (int i = 0; i < 150; ++i) names.push_back("variant " + std::to_string(i));
    for (int i = 0; i < 20; ++i) names.push_back("ldp: " + std::to_string(i));
    const auto looks = looks_of(names);
    ASSERT_EQ(looks.size(), names.size());
    for (std::size_t i = 0; i < looks.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_FALSE(looks[i].second == looks[j].second)
                << looks[i].first << " and " << looks[j].first;
}

TEST(PictureLook, IsToldWithoutColoursByDashAndPoint) {
    std::vector<std::string> names{
        "ldp", "ldp: exact", "decor", "pairs q=1: alone", "mafalda", "homomorphic"};
    for (int i = 0; i < 20; ++i) names.push_back("variant " + std::to_string(i));
    std::set<std::pair<int, int>> shapes;
    for (const auto& [name, look] : looks_of(names)) shapes.emplace(look.dash, look.point);
    EXPECT_EQ(shapes.size(), names.size());
}

TEST(PictureLook, GivesDetailsOfOneThingOneColour) {
    const auto looks = looks_of({"mine", "other: 1", "other: 2", "ldp: exact"});
    EXPECT_EQ(looks[1].second.colour, looks[2].second.colour);
    EXPECT_NE(looks[0].second.colour, looks[1].second.colour);
    EXPECT_EQ(looks[3].second.colour, looks_of({"ldp"})[0].second.colour);
}

TEST(PictureLook, OfAThingIsThatOfItsFirstDetailWhereItDoesNotStandItself) {
    const PictureLook look = looks_of({"ldp"})[0].second;
    EXPECT_EQ(looks_of({"ldp: a", "ldp: b"})[0].second, look);
    EXPECT_EQ(looks_of({"ldp: a", "ldp"})[1].second, look);
    EXPECT_FALSE(looks_of({"ldp: a", "ldp"})[0].second == look);
}

TEST(PictureLook, IsTheSameInEveryPictureForAKnownName) {
    const PictureLook look = looks_of({"pairs q=1"})[0].second;
    EXPECT_EQ(looks_of({"mine", "pairs q=1 (ours)"})[1].second, look);
    EXPECT_EQ(looks_of({"pairs q=1 (ours): 2 agents"})[0].second.colour, look.colour);
    EXPECT_EQ(looks_of({"ldp"})[0].second, (PictureLook{"#d55e00", 1, 4}));
}

}  // namespace
}  // namespace sotto
