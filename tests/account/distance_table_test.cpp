#include "account/distance_table.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "core/gnuplot.hpp"
#include "core/numbers.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

AccountResult two_distances(double largest) {
    AccountResult result;
    result.by_distance = {{1, 4, 0, {1.5, 2, largest, 9, {}}, {0.5, 0.75, 1, 4, {}}},
                          {2, 3, 0, {0.5, 1, 1.25, 9, {3.5}}, {0.125, 0.25, 0.375, 4, {2.0}}}};
    result.pairs.emplace_back().published = {Guarantee{}};
    return result;
}

TEST(DistanceTable, HasALineADistance) {
    const TemporaryFolder folder;
    const std::string path = folder.path("table.txt");
    write_by_distance(two_distances(2.5), path);
    const std::string table = read_file(path);
    expect_contains(table,
                    "# distance min mean max ldp muffliato_bound gossip_sums_bound "
                    "gossip_messages_bound pairs renyi_min renyi_mean renyi_max renyi_ldp "
                    "renyi_muffliato_bound renyi_gossip_sums_bound renyi_gossip_messages_bound\n");
    expect_contains(table,
                    "\n1 1.5 2 2.5 9 nan nan nan 4 0.5 0.75 1 4 nan nan nan\n"
                    "2 0.5 1 1.25 9 3.5 nan nan 3 0.125 0.25 0.375 4 2 nan nan\n");
}

TEST(DistanceTable, IsDrawnWithTheTableBesideIt) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    const std::string path = folder.path("picture.svg");
    write_by_distance(two_distances(2.5), path);
    expect_contains(read_file(path), "<svg");
    expect_contains(read_file(path), "muffliato");
    expect_contains(read_file(path), "Renyi divergence of order 2");
    expect_contains(read_file(path), "local DP");
    EXPECT_EQ(read_file(path).find("infinite"), std::string::npos);
    expect_contains(read_file(path + ".txt"), "\n1 1.5 2 2.5 9 nan nan nan 4 ");
}

TEST(DistanceTable, IsDrawnWithoutDivergencesWhereLossesHaveNone) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    const std::string path = folder.path("picture.svg");
    AccountResult result = two_distances(2.5);
    for (DistanceRow& row : result.by_distance) row.renyi.mean = not_a_number;
    write_by_distance(result, path);
    EXPECT_EQ(read_file(path).find("Renyi"), std::string::npos);
}

TEST(DistanceTable, SaysWhatIsInfiniteInThePicture) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    AccountResult result = two_distances(infinity);
    result.by_distance[0].epsilon.mean = infinity;
    write_by_distance(result, folder.path("picture.svg"));
    expect_contains(read_file(folder.path("picture.svg")), "infinite where there is no point");
}

TEST(DistanceTable, OfNothingFiniteIsNotDrawn) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    AccountResult result;
    EXPECT_FALSE(message_of<ConfigError>([&] {
                     write_by_distance(result, folder.path("none.svg"));
                 }).empty());
    expect_contains(message_of<ConfigError>(
                        [&] { require_by_distance_writable(folder.path("no/such/folder.txt")); }),
                    "folder.txt");
}

}  // namespace
}  // namespace sotto
