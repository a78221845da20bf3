#include "sotto/design/temporal_shape.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(TemporalShape, IsReadAsItIsNamed) {
    for (const char* text : {"dense", "banded:7", "banded:0", "one-lag"})
        EXPECT_EQ(name_of(parse_temporal("--temporal", text)), text);
    for (const char* text : {"", "band:3", "banded:", "banded:-1", "one"})
        EXPECT_THROW((void)parse_temporal("--temporal", text), ConfigError) << text;
}

}  // namespace
}  // namespace sotto
