#include "sotto/design/smoothing.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(ModelAverage, IsReadAndWritten) {
    for (const char* text : {"none", "tail:0.5", "tail:1", "ema:0.99", "ema:0"})
        EXPECT_EQ(name_of(parse_average("average", text)), text);
    for (const char* text : {"tail:0", "tail:1.5", "tail:nan", "ema:1", "ema:-0.1", "tails:1", ""})
        EXPECT_THROW((void)parse_average("average", text), ConfigError) << text;
}

TEST(ModelAverage, OfATailCountsAtLeastOneRoundAndAtMostAll) {
    const ModelAverage half{ModelAverage::Kind::tail, 0.5};
    EXPECT_EQ(half.tail_rounds(1), 1);
    EXPECT_EQ(half.tail_rounds(7), 4);
    EXPECT_EQ((ModelAverage{ModelAverage::Kind::tail, 1}).tail_rounds(7), 7);
}

TEST(Smoothing, IsNoneUnlessSomethingIsDone) {
    Smoothing smoothing;
    EXPECT_TRUE(smoothing.none());
    smoothing.set_average({ModelAverage::Kind::tail, 0.5}, 2);
    EXPECT_TRUE(smoothing.none()) << "the mean of one model is that model";
    smoothing.set_average({ModelAverage::Kind::tail, 0.5}, 4);
    EXPECT_TRUE(smoothing.averages());
    smoothing.set_average({}, 4);
    EXPECT_TRUE(smoothing.none());
    smoothing.set_average({ModelAverage::Kind::exponential, 0.9}, 4);
    EXPECT_TRUE(smoothing.averages());
    smoothing = {};
    smoothing.final_gossip = 2;
    EXPECT_FALSE(smoothing.none());
}

}  // namespace
}  // namespace sotto
