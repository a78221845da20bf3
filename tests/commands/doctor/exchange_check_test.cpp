#include "commands/doctor/exchange_check.hpp"

#include <gtest/gtest.h>

#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

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
