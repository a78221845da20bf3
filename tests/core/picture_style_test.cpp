#include "core/picture_style.hpp"

#include <gtest/gtest.h>

#include "core/files.hpp"

namespace sotto {
namespace {

TEST(PictureStyle, IsThatOfTheFiguresOfTheDocumentation) {
    EXPECT_EQ(picture_style_text(), read_file(SOTTO_SOURCE_DIR "/src/core/picture_style.json"));
    EXPECT_EQ(picture_style().of_curve.at("ldp"), (PictureLook{"#d55e00", 1, 4}));
}

TEST(PictureStyle, GivesEveryCurveALookOfItsOwn) {
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

TEST(PictureStyle, GivesDetailsOfOneThingOneColour) {
    const auto looks = looks_of({"mine", "other: 1", "other: 2", "ldp: exact"});
    EXPECT_EQ(looks[1].second.colour, looks[2].second.colour);
    EXPECT_NE(looks[0].second.colour, looks[1].second.colour);
    EXPECT_EQ(looks[3].second.colour, picture_style().of_curve.at("ldp").colour);
}

}  // namespace
}  // namespace sotto
