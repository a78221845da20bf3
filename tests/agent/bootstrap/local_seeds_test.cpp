#include "agent/bootstrap/local_seeds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto {
namespace {

TEST(PlaceOf, IsThatAmongTheAgentsOfTheProcess) {
    const std::vector<int> local{2, 3, 7};
    for (std::size_t place = 0; place < local.size(); ++place)
        EXPECT_EQ(place_of(local, local[place]), place);
    for (const int elsewhere : {-1, 0, 4, 8}) EXPECT_EQ(place_of(local, elsewhere), std::nullopt);
    EXPECT_EQ(place_of({}, 0), std::nullopt);
}

}  // namespace
}  // namespace sotto
