#include "views/convex_view.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/test_support.hpp"
#include "privacy/dropouts.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"
#include "views/process_checks.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<SquaredSensitivity> bounds_of(const MessageProcess& process,
                                          int observer,
                                          const Participation& participation = {1}) {
    const View view{View::Kind::neighbours, {observer}};
    std::vector<int> others;
    for (int u = 0; u < process.plan->agents; ++u)
        if (u != observer) others.push_back(u);
    return convex_sensitivity(process, view, others, participation, {});
}

/// The squared length of the least change of the noise that hides a unit a round of the target from
/// one observer, where the steps of all agents are linear maps: x -> factors(t, v) x.
double least_change(const MessageProcess& process,
                    int observer,
                    int target,
                    const MatrixXd& factors) {
    const long rounds = process.rounds();
    const MatrixXd noise = unknown_coefficients(*process.plan, std::vector<int>{observer});
    const MatrixXd weights = process.phases.front().mixing.at(0).sparse();
    const Index n = noise.rows(), streams = noise.cols();
    MatrixXd models = MatrixXd::Zero(n, streams * rounds + 1);  // by change; last: the target's
    std::vector<Eigen::RowVectorXd> seen;
    for (Index t = 0; t < rounds; ++t) {
        models = VectorXd(factors.row(t)).asDiagonal() * models;
        const double step =
            process.step_sizes.empty() ? 1 : process.step_sizes[static_cast<std::size_t>(t)];
        models(target, streams * rounds) += step;
        models.middleCols(t * streams, streams) -= step * noise;
        for (int k = 0; k < process.gossip.steps(); ++k) {
            for (const int v : process.graph->neighbours(observer)) seen.push_back(models.row(v));
            models = weights * models;
        }
    }
    MatrixXd all(std::ssize(seen), models.cols());
    for (Index i = 0; i < all.rows(); ++i) all.row(i) = seen[static_cast<std::size_t>(i)];
    const MatrixXd changes = all.leftCols(streams * rounds);
    const VectorXd wanted = -all.rightCols(1);
    const VectorXd least = changes.completeOrthogonalDecomposition().solve(wanted);
    EXPECT_LT((changes * least - wanted).norm(), 1e-8 * (1 + wanted.norm()));
    return least.squaredNorm();
}

struct Setting {
    Graph graph;
    NoisePlan plan;
    int gossip_steps = 1;
    [[nodiscard]] MessageProcess process(long rounds) const {
        return process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}, gossip_steps);
    }
};

std::vector<Setting> settings() {
    const Graph path = make_graph(Topology::path, 4), ring = make_graph(Topology::ring, 6);
    return {{path, unit_plan(4)},
            {ring, unit_plan(6)},
            {ring, decor_plan(ring)},
            {ring, unit_plan(6), 2}};
}

/// With regularisation a step of curvature h is x -> (1 - eta (h + l2)) x, from 1 - eta l2 down to
/// its opposite where eta = 2 / (beta + 2 l2). The process has x(t) / a_t for x(t), and so has
/// least_change its factors and noise.
TEST(ConvexView, BoundsTrainingsWithRegularisation) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(0, 1);
    constexpr long rounds = 5;
    constexpr double l2 = 0.2, beta = 1, eta = 2 / (beta + 2 * l2);
    const Setting setting = settings()[1];
    MessageProcess process = setting.process(rounds);
    StepSchedule steps;
    steps.step_size = eta;
    process.step_sizes = process_steps(setting.plan, steps, l2, rounds);
    ASSERT_EQ(std::ssize(process.step_sizes), rounds);
    const auto bounds = bounds_of(process, 0);
    const Index n = setting.plan.agents;
    double most = 0;
    for (int trial = 0; trial < 200; ++trial) {
        MatrixXd factors(rounds, n);
        for (Index i = 0; i < factors.size(); ++i) {
            const double curvature = trial % 2 == 0          ? uniform(random)
                                     : uniform(random) < 0.5 ? 0
                                                             : 1;
            factors(i) = (1 - eta * (beta * curvature + l2)) / (1 - eta * l2);
        }
        EXPECT_LE(factors.cwiseAbs().maxCoeff(), 1 + 1e-12);
        const double found = least_change(process, 0, 2, factors);
        EXPECT_LE(found, bounds[1].certified() * (1 + 1e-6));
        most = std::max(most, found);
    }
    EXPECT_GT(most, 0.5 * bounds[1].certified());
    EXPECT_LT(bounds[1].certified(), bounds_of(setting.process(rounds), 0)[1].certified());
}

/// Linear losses have factor 1, those with the largest curvature -1.
TEST(ConvexView, BoundsEveryTrainingWithLinearSteps) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr long rounds = 5;
    for (const Setting& setting : settings()) {
        const MessageProcess process = setting.process(rounds);
        const auto bounds = bounds_of(process, 0);
        const Index n = setting.plan.agents;
        for (int target = 1; target < n; ++target) {
            const double bound = bounds[static_cast<std::size_t>(target) - 1].certified();
            EXPECT_LE(least_change(process, 0, target, MatrixXd::Ones(rounds, n)),
                      bound * (1 + 1e-6));
            for (int trial = 0; trial < 60; ++trial) {
                MatrixXd factors(rounds, n);
                for (Index i = 0; i < factors.size(); ++i) {
                    const double drawn = uniform(random);
                    factors(i) = trial % 2 == 0 ? drawn : drawn < 0 ? -1 : 1;
                }
                EXPECT_LE(least_change(process, 0, target, factors), bound * (1 + 1e-6))
                    << "agent " << target;
            }
        }
    }
}

TEST(ConvexView, BoundsTrainingsThatAreLouderThanFixedInputs) {
    constexpr long rounds = 5;
    const Setting setting = settings()[1];
    const MessageProcess process = setting.process(rounds);
    MatrixXd factors = MatrixXd::Ones(rounds, 6);
    const double fixed = least_change(process, 0, 2, factors);
    double loudest = fixed;
    for (Index i = 0; i < factors.size(); ++i)
        for (const double factor : {-1.0, 0.0}) {
            MatrixXd changed = factors;
            changed(i) = factor;
            const double found = least_change(process, 0, 2, changed);
            if (!(found > loudest)) continue;
            loudest = found;
            factors = changed;
        }
    EXPECT_GT(loudest, fixed * 1.001);
    EXPECT_LE(loudest, bounds_of(process, 0)[1].certified() * (1 + 1e-6));
}

TEST(ConvexView, IsNearTheSensitivityOfLossesWithoutCurvatureAwayFromTheObserver) {
    const Graph ring = make_graph(Topology::ring, 16);
    const NoisePlan plan = unit_plan(16);
    const MessageProcess process = process_of(ring, plan, {fixed_phase(metropolis(ring), 30)});
    const auto bounds = bounds_of(process, 0);
    // Who is heard is known in full; of the bound's figures the third decimal is an independent
    // program's (L-BFGS-B over the same shares, in Python).
    const double expected[] = {30, 8.104, 3.703, 1.722, 0.769, 0.327, 0.141, 0.091};
    for (int distance = 1; distance <= 8; ++distance) {
        const SquaredSensitivity& own = bounds[static_cast<std::size_t>(distance) - 1];
        EXPECT_NEAR(own.certified(), expected[distance - 1], 0.01 * expected[distance - 1]);
        EXPECT_NEAR(own.trivial, 30, 1e-9);
        EXPECT_GT(own.tight_lower, (distance > 1 ? 0.9 : 0.5) * own.certified());
    }
}

TEST(ConvexView, CountsRoundsInWhichARecordTakesPart) {
    const Graph ring = make_graph(Topology::ring, 8);
    const NoisePlan plan = unit_plan(8);
    const MessageProcess process = process_of(ring, plan, {fixed_phase(metropolis(ring), 12)});
    const double every = bounds_of(process, 0)[3].certified();
    const double some = bounds_of(process, 0, {3})[3].certified();
    EXPECT_LT(some, every / 3);
    EXPECT_GT(some, every / 9 * 0.9);
    // Larger steps later hide what came before, not what comes with them.
    MessageProcess growing = process;
    growing.step_sizes.assign(12, 1.0);
    growing.step_sizes.back() = 2;
    EXPECT_LT(bounds_of(growing, 0)[3].certified(), every * (1 + 1e-6));
}

TEST(ConvexView, IsTakenForPartialViewsOnly) {
    const Setting setting = settings()[1];
    const MessageProcess process = setting.process(5);
    ViewOptions options;
    options.inputs = Inputs::convex;
    const PlanUse use{};
    const std::vector<int> targets{3};
    const View node{View::Kind::neighbours, {0}}, all{View::Kind::all_messages, {0}};
    const double bound = bounds_of(process, 0)[2].certified();
    EXPECT_EQ(view_losses(process, use, node, targets, options)[0].certified(), bound);
    // Sums are functions of the messages.
    EXPECT_EQ(
        view_losses(process, use, {View::Kind::secure_sum, {0}}, targets, options)[0].certified(),
        bound);
    EXPECT_NEAR(view_losses(process, use, all, targets, options)[0].certified(), 5, 1e-9);
    EXPECT_LT(bound, 5);
}

TEST(ConvexView, RefusesWhatItDoesNotCover) {
    const Graph ring = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    const auto expect_contains = [](const std::string& text, const char* part) {
        EXPECT_TRUE(contains(text, part));
    };
    const auto refusal = [&](const auto& change, const Participation& participation = {1}) {
        MessageProcess process = process_of(ring, plan, {fixed_phase(metropolis(ring), 3)});
        change(process);
        return message_of<ConfigError>([&] { (void)bounds_of(process, 0, participation); });
    };
    expect_contains(refusal([](MessageProcess& p) { p.momentum = 0.5; }), "plain alone");
    expect_contains(refusal([](MessageProcess& p) { p.final_gossip = 2; }), "plain alone");
    expect_contains(refusal([&](MessageProcess& p) { p.gossip = chebyshev(ring, 2); }),
                    "plain alone");
    expect_contains(refusal([](MessageProcess&) {}, {.poisson = true}), "sampled in secret");
    expect_contains(refusal([](MessageProcess& p) { p.phases.push_back(p.phases.front()); }),
                    "the same agents");
    NoisePlan correlated = plan;
    correlated.temporal = difference_factor(3);
    expect_contains(refusal([&](MessageProcess& p) { p.plan = &correlated; }),
                    "independent between rounds");
    NoisePlan on_messages = plan;
    on_messages.entry = NoiseEntry::message;
    expect_contains(refusal([&](MessageProcess& p) { p.plan = &on_messages; }), "on gradients");
}

}  // namespace
}  // namespace sotto
