#include "training/phase_end.hpp"

#include <gtest/gtest.h>

#include "fuzz/support.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

/// What rank 0 tells of an end.
std::string word(const PhaseEnd& end) {
    ByteWriter writer;
    writer.put(std::int32_t{end.exit_code});
    writer.put_text(end.run_directory);
    put_numbers(writer, end.change.leaving);
    put_numbers(writer, end.change.joining);
    return writer.take();
}

/// Rank 1 of 4, to which rank 0 says this.
fuzz::ScriptedNetwork told(const std::string& said) { return {4, 1, said, {}}; }

TEST(PhaseEnd, IsToldToSpares) {
    auto network = told(word({0, {{2}, {3}}, {}, "runs/a"}));
    const PhaseEnd end = share_end(network, std::nullopt, {1, 3});
    EXPECT_EQ(end.change.leaving, (std::vector{2}));
    EXPECT_EQ(end.change.joining, (std::vector{3}));
    EXPECT_EQ(end.run_directory, "runs/a");
}

TEST(PhaseEnd, OfAMemberIsItsOwnWhateverRank0TellsSpares) {
    // Another directory would hold no checkpoint of this agent: it could be made to begin anew.
    auto network = told(word({0, {{}, {1}}, {}, "elsewhere"}));
    const PhaseEnd own{0, {{}, {3}}, {4, {0, 1, 2}}, "run"};
    const PhaseEnd end = share_end(network, own, {3});
    EXPECT_EQ(end.run_directory, "run");
    EXPECT_EQ(end.change.joining, (std::vector{3}));
}

TEST(PhaseEnd, LetsOnlyThoseJoinThatWait) {
    auto another = told(word({0, {{}, {2}}, {}, "run"}));
    EXPECT_THROW((void)share_end(another, std::nullopt, {1, 3}), NetworkError);
    auto cut = told(word({0, {{}, {3}}, {}, "run"}).substr(0, 9));
    EXPECT_THROW((void)share_end(cut, std::nullopt, {1, 3}), NetworkError);
}

TEST(PhaseEnd, InOneProcessIsWhatItKnows) {
    const auto network = make_memory_network(3, 1);
    EXPECT_EQ(share_end(*network, PhaseEnd{8}, {}).exit_code, 8);
}

}  // namespace
}  // namespace sotto
