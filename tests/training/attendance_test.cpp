#include "training/attendance.hpp"

#include <gtest/gtest.h>

#include "fuzz/support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

TrainConfig with_spares(std::vector<int> spares) {
    TrainConfig config;
    config.spares = std::move(spares);
    return config;
}

/// Rank 1 of 4, to which rank 0 says who waits and who takes part.
fuzz::ScriptedNetwork told(const std::vector<int>& waiting, const std::vector<int>& members) {
    ByteWriter writer;
    put_numbers(writer, waiting);
    put_numbers(writer, members);
    return {4, 1, writer.take(), {}};
}

TEST(Attendance, KnowsWhoWaitsByNumberAndPlace) {
    const auto network = make_memory_network(5, 1);
    Attendance there(*network, with_spares({1, 4}));
    EXPECT_EQ(there.waiting(), (std::vector{1, 4}));
    EXPECT_EQ(there.waiting_places(), (std::vector{1, 4}));
    there.change({{2}, {4}});
    EXPECT_EQ(there.waiting(), (std::vector{1}));
    // 0, 1, 3 and 4 are left.
    EXPECT_EQ(there.waiting_places(), (std::vector{1}));
    EXPECT_EQ(there.places_of({3, 4}, {}), (std::vector{2, 3}));
}

TEST(Attendance, OfARunWithoutSparesIsEverybodys) {
    const auto network = make_memory_network(5, 1);
    const Attendance there(*network, {});
    EXPECT_TRUE(there.waiting().empty());
    EXPECT_EQ(there.places_of({4}, {5, {0, 2, 4}}), (std::vector{2}));
}

TEST(Attendance, MakesNobodyWaitByRank0sWordAlone) {
    auto honest = told({1, 3}, {0, 2});
    EXPECT_EQ(Attendance(honest, with_spares({1, 3})).waiting(), (std::vector{1, 3}));
    auto others = told({1, 2}, {0, 3});
    EXPECT_THROW(Attendance(others, with_spares({1, 3})), ConfigError);
    // Taken up with options of rank 0's config.ini: agent 1 was not given --spares itself.
    TrainConfig resumed = with_spares({1, 3});
    resumed.resume = ResumeConfig{"run", {}};
    auto network = told({1, 3}, {0, 2});
    EXPECT_THROW(Attendance(network, resumed), NetworkError);
    resumed.resume->given = {"spares"};
    EXPECT_NO_THROW(Attendance(network, resumed));
}

TEST(Attendance, TakesNoWordThatDoesNotNameEveryRank) {
    for (const auto& [waiting, members] :
         std::vector<std::pair<std::vector<int>, std::vector<int>>>{{{1, 3}, {0}},
                                                                    {{1, 3}, {0, 2, 4}},
                                                                    {{1, 3}, {}},
                                                                    {{1, 3}, {1, 3}},
                                                                    {{3, 1}, {0, 2}}}) {
        auto network = told(waiting, members);
        EXPECT_THROW(Attendance(network, with_spares({1, 3})), NetworkError);
    }
}

}  // namespace
}  // namespace sotto
