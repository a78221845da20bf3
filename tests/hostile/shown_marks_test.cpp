// What a peer says about rounds that have left, when a run is resumed.

#include <gtest/gtest.h>

#include <cstdint>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"
#include "hostile/deviating_network.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using RunThatIsTakenUp = test::ResumableRun;

/// Agents 0 and 1 have sent rounds 0 to 9 of 20, as the file of this process says.
class ShownMarks : public ::testing::Test {
  protected:
    ShownMarks() {
        SentMark mark(folder.path(""), run, {0, 1}, 0, run);
        for (long round = 0; round < 10; ++round) mark.before_round(round, 20);
    }
    /// A mark file's text with a round that a peer says to be the exact one.
    static std::string mark_of(const std::string& text, std::int64_t round) {
        ByteWriter shown;
        shown.put_text(text);
        shown.put(round);
        return shown.take();
    }
    /// What this process finds where another one shows this.
    std::optional<long> sent(const std::string& shown) const {
        return sent_beside(
            {.name = "shows marks", .received = [&](test::Gathered, std::vector<std::string>& all) {
                 all.push_back(shown);
             }});
    }
    std::optional<long> sent_beside(const test::Deviation& peer) const {
        const auto network = test::make_deviating_network(make_memory_network(2, 1), peer);
        return sent_before(folder.path(""), *network, {run, 20, 0, {0, 1}, {0, 1}, 0, {0, 1}});
    }
    test::TemporaryFolder folder;
    Digest run{};
};

TEST_F(ShownMarks, OfNobodyLeaveWhatIsKnown) { EXPECT_EQ(sent({}), 10); }

// The smallest of several would be taken: noise of rounds that have left could be used again.
TEST_F(ShownMarks, NeverMakeAnAgentsOwnRoundsLess) {
    const std::string own = read_file(folder.path("sent/0"));
    for (const std::int64_t round : {0, 4, 9}) EXPECT_EQ(sent(mark_of(own, round)), 10) << round;
    EXPECT_EQ(sent(mark_of(own, 15)), 10);
}

// A later one costs rounds of the budget, but never time without end.
TEST_F(ShownMarks, OfRoundsThatTheRunDoesNotHaveAreRefused) {
    const std::string own = read_file(folder.path("sent/0"));
    const std::string other = own.substr(0, own.rfind("round ")) + "round 18\n";
    EXPECT_EQ(sent(mark_of(other, 18)), 18);
    for (const std::int64_t round :
         {std::int64_t{21}, std::int64_t{1} << 60, std::int64_t{-1}, INT64_MIN})
        try {
            (void)sent(mark_of(other, round));
            ADD_FAILURE() << round << " was taken";
        } catch (const DataError& error) {
            EXPECT_NE(std::string(error.what()).find("the marks of rank 1: round"),
                      std::string::npos)
                << error.what();
        }
}

// A rank that combines the maximum for others can tell them another.
TEST_F(ShownMarks, AreTakenTogetherToNoLessThanTheOwn) {
    for (const double told : {-1.0, 0.0, 9.0, 21.0, 1e300, not_a_number})
        EXPECT_THROW(
            (void)sent_beside({.name = "tells a maximum", .maximum = [&](double) { return told; }}),
            NetworkError)
            << told;
    EXPECT_EQ(sent_beside({.name = "tells a maximum", .maximum = [](double) { return 14.0; }}), 14);
}

// A rank lies in one of the maxima with which a run is resumed; in one of them it says that it
// found a run in which nothing was sent yet.
TEST_F(RunThatIsTakenUp, ForgetsNoRecordWhateverAPeerTellsInAMaximum) {
    int taken_up = 0;
    for (int lie = 0; lie < 8; ++lie) {
        const std::string name = std::to_string(lie);
        const TrainConfig first = config(name);
        test::run_until_killed(first, 33);
        const auto records = [&] {
            std::vector<std::string> all;
            for (int agent = 0; agent < test::agents; ++agent)
                all.push_back(read_file(OwnRecord::file_in(path(name), agent)));
            return all;
        };
        const std::vector<std::string> before = records();
        const test::Deviation peer{
            .name = "tells a maximum",
            .maximum = [&, call = 0](double own) mutable { return call++ == lie ? own + 1 : own; }};
        const auto network =
            test::make_deviating_network(make_memory_network(test::agents, 1), peer);
        test::Fate fate;
        try {
            (void)run_training(
                test::resumed(first, path(name)), *network, fate, [] { return false; });
            ++taken_up;
        } catch (const Error&) {
            // Refused is as good.
        }
        const std::vector<std::string> now = records();
        for (std::size_t agent = 0; agent < now.size(); ++agent)
            EXPECT_TRUE(now[agent].starts_with(before[agent])) << "lie " << lie << ", " << agent;
    }
    EXPECT_GE(taken_up, 3);
}

}  // namespace
}  // namespace sotto
