#include "graph/mixing_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "graph/graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

const Graph path = Graph::from_edges(3, {{0, 1}, {1, 2}});

Eigen::MatrixXd halves() {
    Eigen::MatrixXd dense(3, 3);
    dense << 0.5, 0.5, 0, 0.25, 0.5, 0.25, 0, 0.5, 0.5;
    return dense;
}

std::string why(int u, int v, double weight) {
    Eigen::MatrixXd dense = halves();
    dense(u, v) = weight;
    return message_of<DataError>(
        [&] { check_mixing(path, dense, MixingKind::averaging, "mixing file x"); });
}

TEST(CheckMixing, AcceptsWeightsOfTheGraphThatSumToOne) {
    EXPECT_NO_THROW(check_mixing(path, halves(), MixingKind::averaging, "x"));
    Eigen::MatrixXd rounded = halves();
    rounded(0, 0) += 0.5 * row_sum_tolerance;
    EXPECT_NO_THROW(check_mixing(path, rounded, MixingKind::averaging, "x"));
    EXPECT_NO_THROW(
        check_mixing(path, Eigen::MatrixXd::Identity(3, 3), MixingKind::averaging, "x"));
}

TEST(CheckMixing, NamesSourceEntryAndRule) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_TRUE(contains(why(1, 0, bad), "mixing file x: entry (1, 0) is ")) << bad;
    EXPECT_TRUE(contains(why(0, 2, 0.1), "entry (0, 2) is 0.1"));
    EXPECT_TRUE(contains(why(0, 2, 0.1), "no edge there"));
    EXPECT_TRUE(contains(why(2, 2, 0.6), "row 2 sums to 1.1"));
    EXPECT_TRUE(contains(why(2, 2, 0.5 + 3 * row_sum_tolerance), "row 2 sums to 1.000000003"));
}

TEST(CheckMixing, TakesNegativeEntriesThatBringAgentsTogether) {
    Eigen::MatrixXd dense(3, 3);
    dense << 0.4, 0.6, 0, 0.6, -0.2, 0.6, 0, 0.6, 0.4;
    EXPECT_NO_THROW(check_mixing(path, dense, MixingKind::averaging, "x"));
    dense << 0.2, 0.8, 0, 0.8, -0.6, 0.8, 0, 0.8, 0.2;  // eigenvalues 1, 0.2, -1.4
    EXPECT_TRUE(
        contains(message_of<DataError>(
                     [&] { check_mixing(path, dense, MixingKind::averaging, "mixing file x"); }),
                 "mixing file x: it has negative entries, and an eigenvalue other than that "
                 "of the mean has modulus 1.4"));
    dense << 1.5, -0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0.5;  // not symmetric
    EXPECT_TRUE(contains(
        message_of<DataError>([&] { check_mixing(path, dense, MixingKind::averaging, "x"); }),
        "must be at most 1"));
    EXPECT_TRUE(contains(why(1, 0, -0.1), "row 1 sums to 0.65"));
}

TEST(CheckMixing, RefusesAnotherSize) {
    for (const auto& dense : {Eigen::MatrixXd::Identity(4, 4).eval(),
                              Eigen::MatrixXd::Identity(3, 4).eval(),
                              Eigen::MatrixXd(0, 0)})
        EXPECT_TRUE(contains(message_of<DataError>(
                                 [&] { check_mixing(path, dense, MixingKind::averaging, "name"); }),
                             "name: "));
}

}  // namespace
}  // namespace sotto
