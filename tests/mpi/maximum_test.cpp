// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mpi/mpi_main.hpp"

namespace sotto {
namespace {

TEST(MpiMaximum, FindsTheMaximumAtOnceOrLater) {
    const auto network = test::mpi_network();
    const int n = network->processes();
    const int u = network->process();
    EXPECT_EQ(network->maximum(-1.5 * u), 0);
    EXPECT_EQ(network->maximum(-5 + u), n - 6);
    EXPECT_THROW((void)network->end_maximum(), Error);
    for (int round = 0; round < 10; ++round) {
        const std::vector<double> values{1.0 * u + round, -1.0 * u, u == round % n ? 7.0 : 0.0};
        network->begin_maximum(values);
        EXPECT_THROW(network->begin_maximum(values), Error);
        // Other collectives may run in between.
        EXPECT_EQ(network->broadcast("meanwhile", most_line_bytes), "meanwhile");
        const std::vector<double> expected{n - 1.0 + round, 0.0, 7.0};
        EXPECT_EQ(network->end_maximum(), expected);
    }
    network->begin_maximum({});
    EXPECT_TRUE(network->end_maximum().empty());
    network->begin_maximum(std::vector{1.0});  // never ended: the network ends it
}

TEST(MpiMaximum, ANotANumberIsNeverLostInAMaximum) {
    const auto network = test::mpi_network();
    for (int bad = 0; bad < network->processes(); ++bad) {
        const double value =
            network->process() == bad ? std::numeric_limits<double>::quiet_NaN() : 1.0;
        EXPECT_TRUE(std::isnan(network->maximum(value)));
        network->begin_maximum(std::vector{value, 2.0});
        const auto maxima = network->end_maximum();
        EXPECT_TRUE(std::isnan(maxima[0]));
        EXPECT_EQ(maxima[1], 2.0);
    }
}

}  // namespace
}  // namespace sotto
