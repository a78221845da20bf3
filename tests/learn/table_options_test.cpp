#include "learn/table_options.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

TEST(MissingPolicies, HaveNames) {
    EXPECT_EQ(name_of(parse_missing("value:-1")), "value:-1");
    EXPECT_EQ(name_of(parse_missing("refuse")), "refuse");
    EXPECT_THROW((void)parse_missing("median"), ConfigError);
    EXPECT_THROW((void)parse_missing("value:"), ConfigError);
}

TEST(Bounds, AreReadFromTextOrAFile) {
    for (const char* text : {"age",
                             "age=1",
                             "age=2:1",
                             "age=1:1",
                             "age=0:inf",
                             "age=a:b",
                             "age=0:1,age=0:2",
                             "",
                             "age=nan:1"})
        EXPECT_THROW((void)parse_bounds(text), ConfigError) << text;
    const TemporaryFolder folder;
    EXPECT_EQ(parse_bounds(folder.write("bounds", "# known limits\nage = 0:100\n\ndose=-1:3\n")),
              parse_bounds("age=0:100,dose=-1:3"));
}

}  // namespace
}  // namespace sotto
