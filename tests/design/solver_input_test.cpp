#include "design/solver_input.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(SolverInput, NeedsAKappaThatIsFiniteAndPositiveForEveryAgent) {
    Eigen::VectorXd kappa = Eigen::VectorXd::Ones(4);
    EXPECT_NO_THROW(require_kappa(kappa));
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        kappa(3) = bad;
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { require_kappa(kappa); }), "kappa of agent 3"))
            << bad;
    }
}

TEST(SolverInput, NeedsACapAboveWhatAnAgentAloneNeeds) {
    EXPECT_NO_THROW(require_variance_cap(1.001));
    for (const double bad : {1.0, 0.5, -2.0, nan})
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { require_variance_cap(bad); }), "variance-cap"))
            << bad;
}

TEST(SolverInput, NeedsAUtilityOfEveryAgent) {
    EXPECT_NO_THROW(require_utility_of(Eigen::MatrixXd::Identity(3, 3), 3));
    EXPECT_EQ(
        message_of<ConfigError>([] { require_utility_of(Eigen::MatrixXd::Identity(3, 4), 3); }),
        "utility matrix: 3 x 4 does not fit 3 agents");
    EXPECT_THROW(require_utility_of(Eigen::MatrixXd::Identity(3, 3), 4), ConfigError);
}

}  // namespace
}  // namespace sotto
