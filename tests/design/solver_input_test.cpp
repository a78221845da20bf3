#include "design/solver_input.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
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

using namespace test;

DesignInput usual(const Setting& setting) {
    DesignInput input = setting.input(10, Eigen::VectorXd::Constant(5, 0.3));
    input.rounds = 12;
    input.participation = {4};
    return input;
}

TEST(DesignDigest, DependsOnNothingThatOnlyScalesAPlan) {
    const auto all = settings({5});
    const DesignInput input = usual(all.back());
    DesignInput scaled = input;
    scaled.kappa *= 7.3;
    scaled.clip_norm = 0.1;
    scaled.steps.step_size *= 3;
    EXPECT_EQ(design_digest(scaled), design_digest(input));
}

TEST(DesignDigest, DependsOnAllElse) {
    const auto all = settings({5});
    const Setting& other = all.front();
    const Graph graph = make_graph(Topology::complete, 5);
    const std::vector<std::function<void(DesignInput&)>> changes{
        [](DesignInput&) {},
        [&](DesignInput& input) { input.graph = &graph; },
        [&](DesignInput& input) { input.mixing = &other.mixing; },
        [&](DesignInput& input) {
            input.schedule = std::make_shared<MixingSchedule>(
                std::vector<MixingMatrix>{*input.mixing, *input.mixing});
        },
        [](DesignInput& input) {
            input.utility = {Utility::Kind::horizon, 3};
        },
        [](DesignInput& input) { input.rounds = 13; },
        [](DesignInput& input) { input.gossip = 2; },
        [](DesignInput& input) { input.gossip = GossipPolynomial::chebyshev(2, 0.5); },
        [](DesignInput& input) { input.gossip = GossipPolynomial::chebyshev(2, 0.6); },
        [](DesignInput& input) {
            input.gossip = GossipPolynomial::combined(1, {0.5, 0.5});
        },
        [](DesignInput& input) { input.gossip = GossipPolynomial(1).with_laziness(0.1); },
        [](DesignInput& input) { input.smoothing.correction = Correction::tracking; },
        [](DesignInput& input) { input.smoothing.momentum = 0.9; },
        [](DesignInput& input) { input.smoothing.decay = 0.9; },
        [](DesignInput& input) { input.smoothing.tail_rounds = 3; },
        [](DesignInput& input) { input.smoothing.final_gossip = 3; },
        [](DesignInput& input) { input.participation = {3}; },
        [](DesignInput& input) { input.participation.poisson = true; },
        [](DesignInput& input) {
            input.temporal = {TemporalShape::Kind::banded, 2, 0};
        },
        [](DesignInput& input) { input.temporal.restart = 4; },
        [](DesignInput& input) { input.kappa(2) = 0.31; },
        [](DesignInput& input) { input.variance_cap = 100; },
        [](DesignInput& input) { input.gap = 0.1; },
        [](DesignInput& input) { input.coalition_size = 1; },
        [](DesignInput& input) { input.common_variance = true; },
        [](DesignInput& input) {
            input.seed_groups = {{{0, 1}}, {{2, 3}}};
        },
        [](DesignInput& input) {
            input.seed_groups = {{{0, 1, 2, 3}}};
        },
        [](DesignInput& input) { input.steps.kind = StepSchedule::Kind::inverse; },
        [](DesignInput& input) { input.spatial = &find_mechanism("spatial-mechanism", "corn"); },
        [](DesignInput& input) { input.given_utility = Eigen::MatrixXd::Identity(5, 5); },
    };
    std::set<Digest> seen;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        DesignInput input = usual(all.back());
        changes[i](input);
        EXPECT_TRUE(seen.insert(design_digest(input)).second) << "change " << i;
    }
}

}  // namespace
}  // namespace sotto
