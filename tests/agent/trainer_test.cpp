#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "agent/agent_fixtures.hpp"
#include "sotto/agent/evaluation.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/learn/quadratic.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {
namespace {

constexpr Topology shapes[] = {
    Topology::ring, Topology::path, Topology::star, Topology::complete, Topology::erdos_renyi};

std::vector<LocalAgent> quadratic_agents(int agents) {
    std::vector<LocalAgent> result;
    for (int u = 0; u < agents; ++u)
        result.push_back(test::local_agent(u, make_quadratic_objective(u, agents), 1));
    return result;
}

TEST(Trainer, MixesModelsMinusStepTimesGradientPlusRegularisation) {
    // Against the equation in plain matrices: X <- (X - eta_t (G + l2 X)) W^T.
    for (const Topology shape : shapes) {
        constexpr int agents = 6;
        const Topography topography = test::topography_of(shape, agents);
        const Eigen::MatrixXd weights = topography.mixing.dense();
        TrainerOptions options;
        options.clip_norm = 1e6;
        options.steps = {StepSchedule::Kind::inverse_sqrt, 0.01, {}};
        options.l2 = 0.7;
        const Eigen::Vector2d initial(0.4, -1.5);
        test::SilentTraining training(topography, quadratic_agents(agents), initial, options);
        Eigen::MatrixXd models = initial.replicate(1, agents);
        for (long t = 0; t < 25; ++t) {
            Eigen::MatrixXd gradients(2, agents);
            for (int u = 0; u < agents; ++u)
                make_quadratic_objective(u, agents)->mean_gradient(
                    models.col(u), {}, gradients.col(u));
            models = (models - options.steps.at(t) * (gradients + options.l2 * models)) *
                     weights.transpose();
            training.run(1);
            // The grid of 2^-40 accounts for the difference.
            EXPECT_LT((training.trainer->models() - models).cwiseAbs().maxCoeff(), 1e-10)
                << name_of(shape) << ", round " << t;
        }
    }
}

TEST(Trainer, KeepsRegularisationOutsideTheClip) {
    const Topography alone = test::topography_of(Topology::complete, 1);
    TrainerOptions options;
    options.clip_norm = 1e-3;
    options.steps.step_size = 0.25;
    options.l2 = 2;
    std::vector<LocalAgent> agents;
    agents.push_back(
        test::local_agent(0,
                          std::make_unique<test::FunctionObjective>(
                              3, [](const auto&) { return Eigen::VectorXd::Constant(3, 5.0); }),
                          1));
    const Eigen::Vector3d initial(100, -200, 300);
    test::SilentTraining training(alone, std::move(agents), initial, options);
    training.run(1);
    const Eigen::Vector3d expected =
        (1 - 0.25 * 2) * initial -
        0.25 * Eigen::Vector3d::Constant(options.clip_norm / std::sqrt(3.0));
    EXPECT_LT((training.trainer->models().col(0) - expected).norm(), 1e-9);
}

TEST(Trainer, GivesTheSameBitsWithAnyNumberOfThreads) {
    const Topography topography = test::topography_of(Topology::erdos_renyi, 7);
    const Dataset data = synthetic_binary(700, 1);
    const NoisePlan plan =
        test::plan_of({"Corn", "corn", {}}, topography, 100 * test::uneven_limits(7));
    Eigen::MatrixXd first;
    for (const int threads : {1, 2, 3}) {
        const auto network = make_memory_network(7, threads);
        network->connect(topography.graph);
        TrainerOptions options;
        options.threads = threads;
        Trainer trainer(*network,
                        MixingSchedule({topography.mixing}),
                        plan,
                        NoiseSource(plan, distribute_seeds(*network, plan, 1), threads),
                        test::full_batch_agents(data, nullptr, 7),
                        Eigen::VectorXd::Zero(124),
                        options);
        for (long t = 0; t < 20; ++t) trainer.run_round(t);
        if (threads == 1) first = trainer.models();
        EXPECT_TRUE(trainer.models() == first) << threads << " threads";
    }
}

TEST(Trainer, UsesOtherNoiseInAnotherKeyEpoch) {
    const Topography topography = test::topography_of(Topology::ring, 4);
    const NoisePlan plan = test::plan_of({"Ldp", "ldp", {}}, topography, test::uneven_limits(4));
    std::vector<Eigen::MatrixXd> models;
    for (const std::uint32_t epoch : {0u, 1u}) {
        const auto network = make_memory_network(4, 1);
        network->connect(topography.graph);
        TrainerOptions options;
        options.key_epoch = epoch;
        Trainer trainer(*network,
                        MixingSchedule({topography.mixing}),
                        plan,
                        NoiseSource(plan, distribute_seeds(*network, plan, 1), 1),
                        quadratic_agents(4),
                        Eigen::Vector2d::Zero(),
                        options);
        trainer.run_round(0);
        models.push_back(trainer.models());
    }
    EXPECT_GT((models[0] - models[1]).cwiseAbs().minCoeff(), 0);
}

TEST(Trainer, SaysWhichAgentDivergedInWhichRound) {
    const Topography topography = test::topography_of(Topology::ring, 5);
    for (const int threads : {1, 2}) {
        int calls = 0;
        std::vector<LocalAgent> agents;
        for (int u = 0; u < 5; ++u)
            agents.push_back(
                test::local_agent(u,
                                  std::make_unique<test::FunctionObjective>(
                                      2,
                                      [&calls, u](const Eigen::VectorXd&) -> Eigen::VectorXd {
                                          if (u == 3 && ++calls == 8)
                                              return Eigen::Vector2d(not_a_number, 1);
                                          return Eigen::Vector2d(1, 1);
                                      }),
                                  1));
        TrainerOptions options;
        options.threads = threads;
        test::SilentTraining training(
            topography, std::move(agents), Eigen::Vector2d::Zero(), options);
        training.run(7);
        const Eigen::MatrixXd before = training.trainer->models();
        const std::int64_t sent = training.network->bytes_sent();
        try {
            training.run(1);
            FAIL() << "a gradient that is not a number was accepted";
        } catch (const Error& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find("agent 3:"), std::string::npos) << message;
            EXPECT_NE(message.find("round 7 "), std::string::npos) << message;
            EXPECT_NE(message.find("--step-size"), std::string::npos) << message;
        }
        EXPECT_EQ(training.network->bytes_sent(), sent);
        EXPECT_TRUE(training.trainer->models() == before);
    }
}

TEST(Trainer, DivergesWithAStepThatIsTooLargeInsteadOfSendingGarbage) {
    // Agent adjacency clips to a finite norm, so it takes regularisation to run away.
    const Topography topography = test::topography_of(Topology::ring, 3);
    for (const Adjacency adjacency : {Adjacency::agent, Adjacency::record}) {
        TrainerOptions options;
        options.adjacency = adjacency;
        options.steps.step_size = 10;
        options.l2 = 100;
        const Dataset data = synthetic_binary(60, 1);
        test::SilentTraining training(topography,
                                      test::full_batch_agents(data, nullptr, 3),
                                      Eigen::VectorXd::Ones(124),
                                      options);
        EXPECT_THROW(training.run(1000), Error);
        EXPECT_LT(training.next, 1000);
    }
}

TEST(Trainer, RefusesAClipNormOrStepThatIsNotPositive) {
    const Topography topography = test::topography_of(Topology::ring, 3);
    for (const double bad : {0.0, -1.0, not_a_number}) {
        TrainerOptions clip;
        clip.clip_norm = bad;
        EXPECT_THROW(
            test::SilentTraining(topography, quadratic_agents(3), Eigen::Vector2d::Zero(), clip),
            ConfigError);
        TrainerOptions step;
        step.steps.step_size = bad;
        EXPECT_THROW(
            test::SilentTraining(topography, quadratic_agents(3), Eigen::Vector2d::Zero(), step),
            ConfigError);
    }
}

TEST(Trainer, WithoutNoiseFindsTheOptimumOfTheQuadratics) {
    for (const Topology shape : shapes)
        for (const int n : {1, 2, 6}) {
            const Topography topography = test::topography_of(shape, n);
            TrainerOptions options;
            options.clip_norm = 1e6;
            options.steps = {StepSchedule::Kind::inverse_sqrt, 1e-2, {}};
            test::SilentTraining training(
                topography, quadratic_agents(n), Eigen::Vector2d(3, 4), options);
            auto& agents = training.trainer->agents();
            const auto minimum = minimum_of_average(*training.network, agents, 0, 1);
            ASSERT_TRUE(minimum);
            const auto gap = [&] {
                return evaluate(
                           *training.network, agents, training.trainer->models(), 0, minimum, 1)
                    .optimality_gap;
            };
            const double start = gap();
            // The weakest curvature of the average is at least 2, so the distance to the optimum
            // falls by exp(-2 sum eta_t) = exp(-4 eta sqrt(T)) = exp(-8) and the gap by its square.
            training.run(40000);
            // Agents that differ stay O(eta_T) apart, and the optimum is missed by as much: the gap
            // is O(eta_T^2). It must fall accordingly; on the complete graph there is no such part.
            const double middle = gap();
            training.run(120000);
            const double end = gap();
            EXPECT_GT(start, 1) << name_of(shape) << ", " << n;
            EXPECT_GE(end, -1e-9);
            EXPECT_LT(middle, 1e-3 * start) << name_of(shape) << ", " << n;
            EXPECT_LT(end, 0.3 * middle + 1e-9) << name_of(shape) << ", " << n;
            if (shape == Topology::complete) {
                EXPECT_LT(end, 1e-9 * start);
            }
        }
}

TEST(Trainer, WithoutNoiseFindsTheOptimumOfLogisticRegression) {
    constexpr int n = 4;
    constexpr double l2 = 0.1;
    const Dataset data = synthetic_binary(800, 5);
    for (const Topology shape : {Topology::complete, Topology::ring}) {
        const Topography topography = test::topography_of(shape, n);
        TrainerOptions options;
        options.clip_norm = 1e3;
        options.steps = {StepSchedule::Kind::constant, 0.2, {}};
        options.l2 = l2;
        test::SilentTraining training(topography,
                                      test::full_batch_agents(data, nullptr, n),
                                      Eigen::VectorXd::Constant(124, 0.5),
                                      options);
        auto& agents = training.trainer->agents();
        const auto minimum = minimum_of_average(*training.network, agents, l2, 1);
        ASSERT_TRUE(minimum);
        const auto gap = [&] {
            return evaluate(*training.network, agents, training.trainer->models(), l2, minimum, 1)
                .optimality_gap;
        };
        const double start = gap();
        // Strongly convex with l2: the distance falls by (1 - 0.2 * 0.1) a round, e^-16 in all.
        training.run(800);
        EXPECT_GT(start, 0.1);
        EXPECT_GT(gap(), -1e-10);
        // Exact on the complete graph; with a constant step, agents on the ring stay apart.
        EXPECT_LT(gap(), shape == Topology::complete ? 1e-10 : 1e-2 * start) << name_of(shape);
    }
}

}  // namespace
}  // namespace sotto
