#include "commands/account/distance_table.hpp"

#include <gtest/gtest.h>

#include "run/gnuplot.hpp"
#include "run/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

AccountResult two_distances(double largest) {
    AccountResult result;
    result.by_distance = {{1, 4, 0, 1.5, 2, largest, 9, {}}, {2, 3, 0, 0.5, 1, 1.25, 9, {3.5}}};
    result.pairs.emplace_back().published = {3.5};
    return result;
}

TEST(DistanceTable, HasALineADistance) {
    const TemporaryFolder folder;
    const std::string path = folder.path("table.txt");
    write_by_distance(two_distances(2.5), path);
    const std::string table = read_file(path);
    expect_contains(table,
                    "# distance min mean max ldp muffliato_bound gossip_sums_bound "
                    "gossip_messages_bound pairs\n");
    expect_contains(table, "\n1 1.5 2 2.5 9 nan nan nan 4\n2 0.5 1 1.25 9 3.5 nan nan 3\n");
}

TEST(DistanceTable, IsDrawnWithTheTableBesideIt) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    const std::string path = folder.path("picture.svg");
    write_by_distance(two_distances(2.5), path);
    expect_contains(read_file(path), "<svg");
    expect_contains(read_file(path), "muffliato");
    expect_contains(read_file(path + ".txt"), "\n1 1.5 2 2.5 9 nan nan nan 4\n");
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
