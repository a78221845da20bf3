#include "views/view_parameter.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(ViewParameter, IsWhatFollowsTheNameOfAView) {
    EXPECT_EQ(parameter_of(ViewRecord::Takes::nothing).placeholder, "");
    EXPECT_EQ(parameter_of(ViewRecord::Takes::one_agent).placeholder, "a");
    EXPECT_EQ(parameter_of(ViewRecord::Takes::agents).placeholder, "a,b");
    const ViewParameter size = parameter_of(ViewRecord::Takes::size);
    EXPECT_EQ(size.placeholder, "q");
    EXPECT_EQ(size.what, "a number of agents");
    EXPECT_EQ(size.example, "2");
}

}  // namespace
}  // namespace sotto
