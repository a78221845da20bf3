#include "net/exchange_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

constexpr double values[] = {1, 2};
constexpr std::size_t receivers = 3;

const Outgoing to_all{values, {}};
const Outgoing per_receiver{nullptr, {values, values, values}};

std::string why(const Outgoing& outgoing, const Outgoing& first) {
    return message_of<Error>([&] { check_outgoing(outgoing, first, receivers, 5); });
}

Outgoing with_lists(std::vector<std::uint8_t> to, std::vector<std::uint8_t> from) {
    Outgoing outgoing = to_all;
    outgoing.to = std::move(to);
    outgoing.from = std::move(from);
    return outgoing;
}

TEST(CheckOutgoing, AcceptsEitherKindWithOrWithoutListsOfWhoTakesPart) {
    EXPECT_NO_THROW(check_outgoing(to_all, to_all, receivers, 5));
    EXPECT_NO_THROW(check_outgoing(per_receiver, per_receiver, receivers, 5));
    const Outgoing resting = with_lists({1, 0, 1}, {1, 0, 1});
    EXPECT_NO_THROW(check_outgoing(resting, resting, receivers, 5));
}

TEST(CheckOutgoing, NamesTheAgentAndWhatIsWrong) {
    EXPECT_TRUE(contains(why({}, to_all), "agent 5: give either one vector"));
    EXPECT_TRUE(contains(why({values, {values, values, values}}, to_all), "give either one"));
    EXPECT_TRUE(contains(why(per_receiver, to_all), "of one kind"));
    EXPECT_TRUE(contains(why(to_all, per_receiver), "of one kind"));
    EXPECT_TRUE(contains(why({nullptr, {values, values}}, per_receiver), "2 vectors"));
    EXPECT_TRUE(contains(why({nullptr, {values, nullptr, values}}, per_receiver), "missing"));
    const Outgoing resting = with_lists({1, 1, 1}, {1, 1, 1});
    EXPECT_TRUE(contains(why(resting, to_all), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(to_all, resting), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(with_lists({1, 1}, {1, 1}), resting), "whole closed neighbourhood"));
    EXPECT_TRUE(contains(why(with_lists({1, 1, 1}, {}), resting), "whole closed neighbourhood"));
}

TEST(CheckConnect, TakesOneGraphOfTheNetworksSize) {
    const Graph graph = Graph::from_edges(3, {{0, 1}});
    EXPECT_NO_THROW(check_connect(graph, 3, false));
    EXPECT_THROW(check_connect(graph, 3, true), Error);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { check_connect(graph, 4, false); }),
                         "3 agents and the network 4"));
}

TEST(CheckExchange, NeedsAGraphOneMessageAnAgentAndValues) {
    EXPECT_NO_THROW(check_exchange(true, 2, 2, 1));
    EXPECT_THROW(check_exchange(false, 2, 2, 1), Error);
    EXPECT_THROW(check_exchange(true, 1, 2, 1), Error);
    EXPECT_THROW(check_exchange(true, 2, 2, 0), Error);
}

TEST(FoldInto, AddsOrTakesTheLarger) {
    const Eigen::Vector3d values(4, -5, 0.5);
    Eigen::VectorXd sum = Eigen::Vector3d(1, 2, 3);
    fold_into(sum, values, Fold::sum);
    EXPECT_EQ(sum, Eigen::Vector3d(5, -3, 3.5));
    Eigen::VectorXd largest = Eigen::Vector3d(1, 2, 3);
    fold_into(largest, values, Fold::maximum);
    EXPECT_EQ(largest, Eigen::Vector3d(4, 2, 3));
}

TEST(FoldInto, LosesNoNotANumber) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool first : {true, false})
        for (const Fold fold : {Fold::sum, Fold::maximum}) {
            Eigen::VectorXd total = Eigen::Vector2d(first ? nan : 7, 1);
            fold_into(total, Eigen::Vector2d(first ? 7 : nan, 2), fold);
            EXPECT_TRUE(std::isnan(total[0]));
            EXPECT_FALSE(std::isnan(total[1]));
        }
}

TEST(AddWords, AddsModulo2To64) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> sum{1, most, 5};
    add_words(std::vector<std::uint64_t>{2, 3, most}, sum);
    EXPECT_EQ(sum, (std::vector<std::uint64_t>{3, 2, 4}));
}

TEST(ChunkLength, CoversEveryDimensionInEqualPiecesOfWholeCacheLines) {
    for (const Eigen::Index whole : {16, 64, 1024})
        for (const Eigen::Index largest : {8, 16, 1024})
            for (Eigen::Index dimension = 1; dimension < 5000; dimension += 7) {
                const Eigen::Index piece = chunk_length(dimension, whole, largest);
                if (dimension <= whole) {
                    EXPECT_EQ(piece, dimension);
                    continue;
                }
                EXPECT_GT(piece, 0);
                EXPECT_LE(piece, largest);
                EXPECT_EQ(piece % 8, 0);
                // No more pieces than the largest length needs.
                EXPECT_EQ((dimension + piece - 1) / piece, (dimension + largest - 1) / largest)
                    << dimension << ' ' << largest;
            }
}

TEST(PieceLength, IsTheWholeMessageUpToAMebibyteAndAtMostHalfOfItAbove) {
    EXPECT_EQ(piece_length(1, 1), 1);
    EXPECT_EQ(piece_length(131072, 0), 131072);
    EXPECT_EQ(piece_length(131072, 128), 131072);
    EXPECT_LE(piece_length(131073, 5), 65536);
    EXPECT_EQ(piece_length(Eigen::Index{1} << 40, 1), 65536);
}

TEST(PieceLength, IsSmallerWhereManyMessagesComeAtOnce) {
    for (const std::size_t messages : {1000, 30000, 120000}) {
        const Eigen::Index piece = piece_length(Eigen::Index{1} << 40, messages);
        EXPECT_EQ(piece % 8, 0);
        EXPECT_LE(static_cast<std::size_t>(piece) * messages * 8, std::size_t{1} << 26);
        EXPECT_LE(static_cast<std::size_t>(piece_length(2 * piece, messages)) * messages * 8,
                  std::size_t{1} << 27);
    }
    EXPECT_EQ(piece_length(Eigen::Index{1} << 40, 1000000000), 64);
}

}  // namespace
}  // namespace sotto
