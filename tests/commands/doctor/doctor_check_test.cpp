#include "commands/doctor/doctor_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/host.hpp"
#include "net/memory_network.hpp"

namespace sotto {
namespace {

TEST(DoctorCheck, CountsInTheSingularAndThePlural) {
    EXPECT_EQ(counted(1, "core"), "1 core");
    EXPECT_EQ(counted(0, "core"), "0 cores");
    EXPECT_EQ(counted(3, "rank"), "3 ranks");
}

TEST(Placement, OfOneProcessIsItsHostAndItsCores) {
    const auto network = make_memory_network(3, 1);
    const Placement placement = find_placement(*network);
    EXPECT_TRUE(placement.launched);
    EXPECT_EQ(placement.rank, 0);
    EXPECT_EQ(placement.ranks, 1);
    EXPECT_EQ(placement.ranks_on_host, 1);
    EXPECT_EQ(placement.host, local_host_name());
    EXPECT_EQ(placement.cores_on_host, static_cast<int>(allowed_cores().size()));
}

TEST(Placement, CountsCoresOnceAndNoMoreThanTheHostHas) {
    const std::vector<int> cores = allowed_cores();
    ASSERT_FALSE(cores.empty());
    EXPECT_TRUE(std::ranges::is_sorted(cores));
    EXPECT_EQ(std::ranges::adjacent_find(cores), cores.end());
    for (const int on_host : {1, 2, 1 << 20}) {
        Placement placement;
        placement.cores_on_host = on_host;
        EXPECT_GE(usable_cores(placement), 1);
        EXPECT_LE(usable_cores(placement), on_host);
    }
}

TEST(ExchangeCheck, IsOkWhereMessagesArriveAsTheyWereSent) {
    for (const auto& [agents, found] :
         {std::pair{1, "1 rank exchanged messages with all others"},
          {5, "5 ranks exchanged messages with all others"},
          {257, "257 ranks exchanged messages with their neighbours on a ring"}}) {
        const auto network = make_memory_network(agents, 2);
        const DoctorCheck check = check_exchange(*network);
        EXPECT_TRUE(check.ok) << check.found;
        EXPECT_EQ(check.name, "exchange");
        EXPECT_TRUE(check.found.starts_with(found)) << check.found;
        EXPECT_EQ(check.fix, "");
    }
}

}  // namespace
}  // namespace sotto
