#include "agent/shared_preconditioner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

constexpr int ring_agents = 6;

/// P of second moments, by the formula.
Eigen::VectorXd scales_of(const Eigen::VectorXd& moments) {
    const Eigen::ArrayXd positive = moments.array().max(0);
    return ((1.25 * positive.mean()) / (positive + 0.25 * positive.mean())).sqrt();
}

TEST(MotionWeights, AreThoseOfEveryRoundsGradientInTheMotion) {
    const StepSchedule falling{StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    for (const double momentum : {0.0, 0.7}) {
        constexpr long begin = 30, end = 37;
        MotionWeights expected;
        for (long s = 0; s < end; ++s) {
            // Only round s has a gradient, of 1.
            double moved = 0, velocity = 0;
            for (long t = 0; t < end; ++t) {
                velocity = momentum * velocity + (t == s ? 1 : 0);
                if (t >= begin) moved += falling.at(t) * velocity;
            }
            expected.sum += moved;
            expected.squares += moved * moved;
        }
        const MotionWeights found = motion_weights(falling, momentum, begin, end);
        EXPECT_NEAR(found.sum, expected.sum, 1e-10);
        EXPECT_NEAR(found.squares, expected.squares, 1e-10);
    }
}

TrainerOptions preconditioned(const Topography& topography, double momentum) {
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps.step_size = 0.01;
    options.l2 = 0.1;
    options.smoothing.momentum = momentum;
    options.preconditioning.every = 4;
    options.preconditioning.consensus = gossip_polynomial(topography.mixing, GossipRule::plain, 60);
    return options;
}

/// Gradients of different sizes, which do not depend on the model.
std::vector<LocalAgent> agents_with_gradients(const Eigen::MatrixXd& gradients) {
    std::vector<LocalAgent> agents;
    for (Eigen::Index u = 0; u < gradients.cols(); ++u)
        agents.push_back(test::local_agent(
            static_cast<int>(u),
            std::make_unique<test::FunctionObjective>(
                gradients.rows(),
                [gradient = Eigen::VectorXd(gradients.col(u))](const auto&) { return gradient; }),
            1));
    return agents;
}

TEST(SharedPreconditioner, ScalesStepsAsItsEquationsSay) {
    // Against the equations in plain matrices, with models that all are the mean after a renewal.
    const Topography topography = test::topography_of(Topology::ring, ring_agents);
    const Eigen::MatrixXd weights = topography.mixing.dense();
    Eigen::MatrixXd gradients(3, ring_agents);
    for (int u = 0; u < ring_agents; ++u) gradients.col(u) << 8 + u, 1 - 0.1 * u, 0.01;
    for (const double momentum : {0.0, 0.6}) {
        const TrainerOptions options = preconditioned(topography, momentum);
        const Eigen::Vector3d initial(0.4, -1.5, 2);
        test::SilentTraining training(
            topography, agents_with_gradients(gradients), initial, options);
        Eigen::MatrixXd models = initial.replicate(1, ring_agents), velocities = 0 * models;
        Eigen::VectorXd anchor = initial, moments = Eigen::Vector3d::Zero(),
                        scales = Eigen::Vector3d::Ones();
        for (long t = 0; t < 12; ++t) {
            velocities = momentum * velocities + gradients;
            models =
                (0.999 * models - 0.01 * scales.asDiagonal() * velocities) * weights.transpose();
            if (t % 4 == 3) {
                models = models.rowwise().mean().replicate(1, ring_agents).eval();
                const MotionWeights of = motion_weights(options.steps, momentum, t - 3, t + 1);
                const Eigen::VectorXd found =
                    (std::pow(0.999, 4) * anchor - models.col(0)).cwiseQuotient(scales) / of.sum;
                moments = t == 3 ? Eigen::VectorXd(found.cwiseAbs2())
                                 : Eigen::VectorXd(0.9 * moments + 0.1 * found.cwiseAbs2());
                scales = scales_of(moments);
                anchor = models.col(0);
            }
            training.run(1);
            EXPECT_LT((training.trainer->models() - models).cwiseAbs().maxCoeff(), 1e-8) << t;
        }
        const SharedPreconditioner& shared = *training.trainer->preconditioner();
        EXPECT_LT((shared.scales().colwise() - scales).cwiseAbs().maxCoeff(), 1e-6);
        // What was measured is the mean gradient: 10.5, 0.75 and 0.01.
        EXPECT_NEAR(std::sqrt(shared.moments()(0, 0)), 10.5, 0.2);
        EXPECT_NEAR(std::sqrt(shared.moments()(1, 0)), 0.75, 0.02);
        EXPECT_LT(scales(0), 0.63);
        EXPECT_GT(scales(2), 2.2);
    }
}

TEST(SharedPreconditioner, GoesOnFromWhereItWas) {
    const Topography topography = test::topography_of(Topology::ring, ring_agents);
    const Eigen::MatrixXd gradients = Eigen::MatrixXd::Random(3, ring_agents);
    const TrainerOptions options = preconditioned(topography, 0);
    const Eigen::Vector3d initial(0.4, -1.5, 2);
    test::SilentTraining whole(topography, agents_with_gradients(gradients), initial, options),
        stopped(topography, agents_with_gradients(gradients), initial, options),
        again(topography, agents_with_gradients(gradients), initial, options);
    stopped.run(6);
    again.trainer->start_from(stopped.trainer->models());
    const SharedPreconditioner& shared = *stopped.trainer->preconditioner();
    again.trainer->start_preconditioner_from(shared.anchors(), shared.moments());
    again.next = 6;
    again.run(6);
    whole.run(12);
    EXPECT_EQ(again.trainer->models(), whole.trainer->models());
    EXPECT_THROW(again.trainer->start_preconditioner_from({}, shared.moments()), DataError);
}

/// Of the mean of all agents' noise: 1^T R 1 / n^2 for normal streams.
double variance_of_mean(const NoisePlan& plan) {
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(plan.agents, std::ssize(plan.streams));
    for (const NoiseRow& row : plan.rows)
        for (std::size_t k = 0; k < row.streams.size(); ++k)
            factor(row.sender, row.streams[k]) += plan.scale * row.coefficients[k];
    return (factor * factor.transpose()).sum() / (plan.agents * plan.agents);
}

/// Noise alone, of a plan, in many coordinates.
struct Noisy {
    explicit Noisy(const std::string& mechanism)
        : topography(test::topography_of(Topology::ring, ring_agents)),
          plan(test::plan_of({mechanism, mechanism, {Utility::Kind::horizon, 20}},
                             topography,
                             Eigen::VectorXd::Constant(ring_agents, 1.0))),
          network(make_memory_network(ring_agents, 1)) {
        constexpr Eigen::Index coordinates = 20000;
        network->connect(topography.graph);
        TrainerOptions options = preconditioned(topography, 0.5);
        options.preconditioning.noise_variance = variance_of_mean(plan);
        trainer = std::make_unique<Trainer>(
            *network,
            MixingSchedule({topography.mixing}),
            plan,
            NoiseSource(plan, distribute_seeds(*network, plan, 7), 1),
            agents_with_gradients(Eigen::MatrixXd::Zero(coordinates, ring_agents)),
            Eigen::VectorXd::Zero(coordinates),
            options);
    }
    Topography topography;
    NoisePlan plan;
    std::unique_ptr<Network> network;
    std::unique_ptr<Trainer> trainer;
};

TEST(SharedPreconditioner, SubtractsTheNoiseThatIsInjected) {
    for (const char* mechanism : {"ldp", "pairs"}) {
        Noisy noisy(mechanism);
        long next = 0;
        for (int renewal = 0; renewal < 3; ++renewal) {
            for (int t = 0; t < 4; ++t) noisy.trainer->run_round(next++);
            const MotionWeights of =
                motion_weights({StepSchedule::Kind::constant, 0.01, {}}, 0.5, next - 4, next);
            const double noise = variance_of_mean(noisy.plan) * of.squares / (of.sum * of.sum);
            const Eigen::MatrixXd& moments = noisy.trainer->preconditioner()->moments();
            // g^2 of pure noise has a standard deviation of sqrt(2) times its mean.
            EXPECT_LT(std::abs(moments.mean()), 5 * noise * std::sqrt(2.0 / 20000)) << mechanism;
            // Without subtracting, the mean would be the noise.
            EXPECT_GT((moments.array() + noise).mean(), 0.9 * noise) << mechanism;
        }
    }
}

TEST(SharedPreconditioner, IsTheSameAtAllAgentsThoughTheirNoiseDiffers) {
    Noisy noisy("pairs");
    for (long t = 0; t < 8; ++t) noisy.trainer->run_round(t);
    const Eigen::MatrixXd& scales = noisy.trainer->preconditioner()->scales();
    const Eigen::VectorXd spread = scales.rowwise().maxCoeff() - scales.rowwise().minCoeff();
    EXPECT_LT(spread.maxCoeff(), 1e-3);
    // Coordinates differ.
    EXPECT_GT(scales.maxCoeff() - scales.minCoeff(), 1);
}

TEST(SharedPreconditioner, IsOneWhereNothingIsKnown) {
    SharedPreconditioner shared({.every = 1, .consensus = 1, .noise_variance = 1}, {}, 0, 0);
    for (const double moved : {0.0, 1e-300, 1e100}) {
        shared.start(Eigen::MatrixXd::Zero(2, 1));
        shared.renew(0, Eigen::MatrixXd::Constant(2, 1, moved));
        EXPECT_NEAR(shared.scales()(0, 0), 1, 1e-12) << moved;
    }
}

}  // namespace
}  // namespace sotto
