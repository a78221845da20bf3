#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "agent/agent_fixtures.hpp"
#include "agent/evaluation.hpp"
#include "core/numbers.hpp"
#include "learn/quadratic.hpp"
#include "learn/readers.hpp"

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

class TrainerGossip : public ::testing::TestWithParam<bool> {};

TEST_P(TrainerGossip, MovesAndAveragesAsItsOptionsSay) {
    // Against the equations in plain matrices: U <- B U + G, X <- (X - eta U) P_K(W)^T, and in the
    // end the mean of the last models, times Q_L(W)^T.
    constexpr int agents = 6;
    constexpr long rounds = 9;
    const Topography topography = test::topography_of(Topology::path, agents);
    const Eigen::MatrixXd weights = topography.mixing.dense();
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps.step_size = 0.01;
    options.rounds = rounds;
    options.gossip = gossip_polynomial(topography.mixing, GossipRule::chebyshev, 3);
    if (GetParam())
        options.gossip = GossipPolynomial::combined(options.gossip, {-0.25, 0.5, -0.125, 0.875});
    options.smoothing.momentum = 0.6;
    options.smoothing.tail_rounds = 4;
    options.smoothing.final_gossip = gossip_polynomial(topography.mixing, GossipRule::chebyshev, 2);
    const Eigen::Vector2d initial(0.4, -1.5);
    test::SilentTraining training(topography, quadratic_agents(agents), initial, options);
    Eigen::MatrixXd models = initial.replicate(1, agents), velocities = 0 * models,
                    tail = 0 * models;
    for (long t = 0; t < rounds; ++t) {
        Eigen::MatrixXd gradients(2, agents);
        for (int u = 0; u < agents; ++u)
            make_quadratic_objective(u, agents)->mean_gradient(models.col(u), {}, gradients.col(u));
        velocities = 0.6 * velocities + gradients;
        models = (models - 0.01 * velocities) * options.gossip.of(weights).transpose();
        if (t >= rounds - 4) tail += models / 4;
        training.run(1);
        EXPECT_LT((training.trainer->models() - models).cwiseAbs().maxCoeff(), 1e-9) << t;
        EXPECT_LT((training.trainer->velocities() - velocities).cwiseAbs().maxCoeff(), 1e-7) << t;
    }
    training.trainer->take_means();
    EXPECT_LT((training.trainer->models() - tail).cwiseAbs().maxCoeff(), 1e-9);
    training.trainer->run_final_gossip();
    const Eigen::MatrixXd after = tail * options.smoothing.final_gossip.of(weights).transpose();
    EXPECT_LT((training.trainer->models() - after).cwiseAbs().maxCoeff(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutCombinations, TrainerGossip, ::testing::Bool());

TEST(Trainer, CountsTheVectorsThatItsOptionsNeed) {
    const std::int64_t plain = Trainer::memory_bytes(1000, 3, 3, 0);
    const GossipPolynomial weighted = GossipPolynomial::chebyshev(3, 0.5);
    Smoothing smoothing;
    smoothing.momentum = 0.5;
    EXPECT_EQ(Trainer::memory_bytes(1000, 3, 3, 0, 5, smoothing) - plain, 3 * 8000);
    smoothing.tail_rounds = 2;
    EXPECT_EQ(Trainer::memory_bytes(1000, 3, 3, 0, weighted, smoothing) - plain, 9 * 8000);
    EXPECT_EQ(Trainer::memory_bytes(1000, 3, 3, 0, 5, {}), plain);
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

/// Counts the messages that observers see leave.
class CountedMessages final : public RoundObserver {
  public:
    void on_message(long, std::size_t, const OwnRound&) override { ++messages; }
    int messages = 0;
};

using test::privacy_error_of;

TEST(Trainer, RunsARoundOnceAndInAscendingOrder) {
    const Topography topography = test::topography_of(Topology::ring, 4);
    test::SilentTraining training(
        topography, quadratic_agents(4), Eigen::Vector2d::Zero(), TrainerOptions{});
    CountedMessages seen;
    training.trainer->observe(&seen);
    training.run(2);
    EXPECT_EQ(seen.messages, 8);
    for (const long round : {1, 0})
        EXPECT_NE(privacy_error_of([&] {
                      training.trainer->run_round(round);
                  }).find("above round 1 of key epoch 0"),
                  std::string::npos);
    EXPECT_EQ(seen.messages, 8);
    training.run(1);
    EXPECT_EQ(seen.messages, 12);
}

TEST(Trainer, SendsNothingForAGradientThatAsksForARound) {
    // Also for one that asks for the next one, whose noise would be drawn into this one's place.
    for (const long asked : {0, 1}) {
        const Topography topography = test::topography_of(Topology::ring, 4);
        std::unique_ptr<Trainer>* running = nullptr;
        CountedMessages seen;
        std::vector<std::string> refused;
        std::vector<LocalAgent> agents = quadratic_agents(4);
        agents[2] = test::local_agent(
            2,
            std::make_unique<test::FunctionObjective>(
                2,
                [&](const Eigen::VectorXd&) -> Eigen::VectorXd {
                    refused.push_back(privacy_error_of([&] { (*running)->run_round(asked); }));
                    EXPECT_EQ(seen.messages, 0);
                    return Eigen::Vector2d::Ones();
                }),
            1);
        test::SilentTraining training(
            topography, std::move(agents), Eigen::Vector2d::Zero(), TrainerOptions{});
        running = &training.trainer;
        training.trainer->observe(&seen);
        training.run(1);
        ASSERT_EQ(refused.size(), 1U);
        EXPECT_NE(refused[0].find("while another one is under way"), std::string::npos);
        EXPECT_EQ(seen.messages, 4);
    }
}

TEST(Trainer, DoesNotRunARoundAgainThatAnExceptionEnded) {
    const Topography topography = test::topography_of(Topology::ring, 4);
    std::vector<LocalAgent> agents = quadratic_agents(4);
    agents[1] = test::local_agent(
        1,
        std::make_unique<test::FunctionObjective>(
            2,
            [](const Eigen::VectorXd&) -> Eigen::VectorXd { throw DataError("no such record"); }),
        1);
    test::SilentTraining training(
        topography, std::move(agents), Eigen::Vector2d::Zero(), TrainerOptions{});
    EXPECT_THROW(training.trainer->run_round(0), DataError);
    EXPECT_THROW(training.trainer->run_round(0), PrivacyError);
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

/// Five agents with the gradient (1, 1); from its 8th round on that of agent 3 is `bad`.
std::vector<LocalAgent> agents_of_which_one_turns(int& calls, const Eigen::Vector2d& bad) {
    std::vector<LocalAgent> agents;
    for (int u = 0; u < 5; ++u)
        agents.push_back(
            test::local_agent(u,
                              std::make_unique<test::FunctionObjective>(
                                  2,
                                  [&calls, u, bad](const Eigen::VectorXd&) -> Eigen::VectorXd {
                                      if (u == 3 && ++calls >= 8) return bad;
                                      return Eigen::Vector2d(1, 1);
                                  }),
                              1));
    return agents;
}

TEST(Trainer, CountsAGradientThatIsNotFiniteAsZeroAndGoesOn) {
    const Topography topography = test::topography_of(Topology::ring, 5);
    for (const int threads : {1, 2}) {
        TrainerOptions options;
        options.threads = threads;
        int calls = 0, calls_of_zero = 0;
        test::SilentTraining training(topography,
                                      agents_of_which_one_turns(calls, {not_a_number, 1}),
                                      Eigen::Vector2d::Zero(),
                                      options);
        test::SilentTraining with_zero(topography,
                                       agents_of_which_one_turns(calls_of_zero, {0, 0}),
                                       Eigen::Vector2d::Zero(),
                                       options);
        training.run(12);
        with_zero.run(12);
        EXPECT_TRUE(training.trainer->models() == with_zero.trainer->models());
        EXPECT_EQ(training.network->bytes_sent(), with_zero.network->bytes_sent());
        for (std::size_t u = 0; u < 5; ++u) {
            EXPECT_EQ(training.trainer->report(u).gradients_set_to_zero, u == 3 ? 5 : 0);
            EXPECT_TRUE(with_zero.trainer->report(u).empty());
        }
    }
}

TEST(Trainer, CountsRecordsWhoseGradientIsNotFinite) {
    const Topography alone = test::topography_of(Topology::complete, 1);
    Dataset data = synthetic_binary(20, 1);
    data.features.coeffRef(3, 0) = 1e300;
    data.features.coeffRef(3, 1) = -1e300;
    data.features.makeCompressed();
    TrainerOptions options;
    options.adjacency = Adjacency::record;
    test::SilentTraining training(alone,
                                  test::full_batch_agents(data, nullptr, 1),
                                  Eigen::VectorXd::Constant(124, 1e10),
                                  options);
    training.run(3);
    EXPECT_EQ(training.trainer->report(0).records_set_to_zero, 3);
    EXPECT_EQ(training.trainer->report(0).gradients_set_to_zero, 0);
}

TEST(Trainer, LimitsWhatItSendsInsteadOfEndingTheJob) {
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
        training.run(1000);
        EXPECT_GT(training.trainer->report(1).messages_limited, 900);
        EXPECT_LE(training.trainer->models().cwiseAbs().maxCoeff(), largest_model_value);
        EXPECT_GT(training.trainer->models().cwiseAbs().maxCoeff(), largest_message_value / 4);
    }
}

TEST(Trainer, RoundsMessagesToTheirPrecisionAfterTheNoise) {
    // With the same gradients and noise: what is sent first is the rounding of what would have been
    // sent, and what is mixed, the agent's own message among it, is what was sent.
    const Topography topography = test::topography_of(Topology::ring, 3);
    const NoisePlan plan = test::silent_plan(3, -60);
    std::vector<Eigen::MatrixXd> sent, models;
    for (const auto precision : {MessagePrecision::float64, MessagePrecision::float32}) {
        std::vector<LocalAgent> agents;
        for (int u = 0; u < 3; ++u)
            agents.push_back(test::local_agent(
                u,
                std::make_unique<test::FunctionObjective>(
                    2, [u](const auto&) { return Eigen::Vector2d(0.01 * u, -1.0 / 7); }),
                1));
        const auto network = make_memory_network(3, 1);
        network->connect(topography.graph);
        network->set_message_precision(precision);
        std::vector<KeyRing> rings;
        for (int u = 0; u < 3; ++u) rings.emplace_back(u);
        TrainerOptions options;
        options.steps.step_size = 0.3;
        Trainer trainer(*network,
                        MixingSchedule({topography.mixing}),
                        plan,
                        NoiseSource(plan, rings, 1),
                        std::move(agents),
                        Eigen::Vector2d(1.0 / 3, 1e9 / 3),
                        options);
        EXPECT_EQ(trainer.message_limit(),
                  precision == MessagePrecision::float32 ? largest_value(precision)
                                                         : largest_message_value);
        test::Recorder recorder(2, 3);
        trainer.observe(&recorder);
        trainer.run_round(0);
        sent.insert(
            sent.end(), recorder.recording.messages.begin(), recorder.recording.messages.end());
        models.push_back(trainer.models());
        EXPECT_EQ(network->bytes_sent(), 6 * static_cast<std::int64_t>(piece_bytes(precision, 2)));
    }
    ASSERT_EQ(sent.size(), 2U);
    const Eigen::MatrixXd rounded = sent[0].cast<float>().cast<double>();
    EXPECT_NE(rounded, sent[0]);
    EXPECT_EQ(sent[1], rounded);
    const Eigen::MatrixXd mixed = rounded * topography.mixing.dense().transpose();
    EXPECT_LE((models[1] - mixed).cwiseAbs().maxCoeff(), 1e-14 * mixed.cwiseAbs().maxCoeff());
    EXPECT_NE(models[1], models[0]);
}

TEST(Trainer, AddsNoiseOnlyToWhatItsGridHolds) {
    // A peer's large models must not leave a message where the noise is rounded away, nor end the
    // job for one gradient and not for another.
    constexpr int grid_step_log2 = -40;
    const double largest = std::ldexp(1.0, 50 + grid_step_log2);
    const Topography topography = test::topography_of(Topology::ring, 3);
    for (const double start : {1e60, -1e60, largest - 0.01, 0.5})
        for (const double slope : {1.0, -1.0}) {
            NoisePlan plan = test::silent_plan(3, grid_step_log2);
            plan.entry = NoiseEntry::message;
            std::vector<LocalAgent> agents;
            for (int u = 0; u < 3; ++u)
                agents.push_back(test::local_agent(
                    u,
                    std::make_unique<test::FunctionObjective>(
                        2, [&](const auto&) { return Eigen::Vector2d(slope, slope); }),
                    1));
            const auto network = make_memory_network(3, 1);
            network->connect(topography.graph);
            std::vector<KeyRing> rings;
            for (int u = 0; u < 3; ++u) rings.emplace_back(u);
            TrainerOptions options;
            options.steps.step_size = 1;
            Trainer trainer(*network,
                            MixingSchedule({topography.mixing}),
                            plan,
                            NoiseSource(plan, rings, 1),
                            std::move(agents),
                            Eigen::Vector2d::Constant(start),
                            options);
            EXPECT_EQ(trainer.message_limit(), largest);
            test::Recorder recorder(2, 3);
            trainer.observe(&recorder);
            trainer.run_round(0);
            const Eigen::MatrixXd& sent = recorder.recording.messages.front();
            EXPECT_LE(sent.cwiseAbs().maxCoeff(), largest);
            EXPECT_EQ(sent,
                      std::ldexp(1.0, grid_step_log2) *
                          (std::ldexp(1.0, -grid_step_log2) * sent).array().round().matrix());
            EXPECT_EQ(trainer.report(0).messages_limited,
                      std::abs(start - slope * options.clip_norm / std::sqrt(2)) > largest ? 1 : 0);
        }
}

TEST(Trainer, StartsFromNoModelThatIsNotFinite) {
    const Topography topography = test::topography_of(Topology::ring, 3);
    EXPECT_THROW(
        test::SilentTraining(topography, quadratic_agents(3), Eigen::Vector2d(1, not_a_number), {}),
        DataError);
    test::SilentTraining training(topography, quadratic_agents(3), Eigen::Vector2d::Zero(), {});
    EXPECT_THROW(training.trainer->start_from(Eigen::MatrixXd::Constant(2, 3, infinity)),
                 DataError);
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
                           *training.network, agents, training.trainer->models(), 0, minimum, {}, 1)
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
            return evaluate(
                       *training.network, agents, training.trainer->models(), l2, minimum, {}, 1)
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

/// Everybody hears the one before, and agent 2 hears agent 0 besides.
Topography push_sum_ring(int agents) {
    std::vector<Arc> arcs{{0, 2}};
    for (int u = 0; u < agents; ++u) arcs.emplace_back(u, (u + 1) % agents);
    Graph graph = Graph::from_arcs(agents, arcs);
    MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    return {std::move(graph), std::move(mixing)};
}

TEST(PushSumTrainer, TakesGradientsAtModelsDividedByTheirWeights) {
    // X <- (X - eta G(X / w)) A^T, w <- A w; two exchanges a round, three in the end.
    constexpr int agents = 6;
    const Topography topography = push_sum_ring(agents);
    const Eigen::MatrixXd twice = topography.mixing.dense() * topography.mixing.dense();
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps.step_size = 0.01;
    options.rounds = 8;
    options.gossip = 2;
    options.smoothing.final_gossip = GossipPolynomial(2);
    const Eigen::Vector2d initial(0.4, -1.5);
    test::SilentTraining training(topography, quadratic_agents(agents), initial, options);
    Eigen::MatrixXd models = initial.replicate(1, agents), estimates = models;
    Eigen::VectorXd weights = Eigen::VectorXd::Ones(agents);
    for (long t = 0; t < 8; ++t) {
        Eigen::MatrixXd gradients(2, agents);
        for (int u = 0; u < agents; ++u)
            make_quadratic_objective(u, agents)->mean_gradient(
                estimates.col(u), {}, gradients.col(u));
        models = (models - 0.01 * gradients) * twice.transpose();
        weights = twice * weights;
        estimates = models * weights.cwiseInverse().asDiagonal();
        training.run(1);
        EXPECT_LT((training.trainer->models() - models).cwiseAbs().maxCoeff(), 1e-10) << t;
        EXPECT_LT((training.trainer->estimates() - estimates).cwiseAbs().maxCoeff(), 1e-10) << t;
    }
    EXPECT_GT((estimates - models).cwiseAbs().maxCoeff(), 0.01);
    training.trainer->run_final_gossip();
    weights = twice * weights;
    estimates = models * twice.transpose() * weights.cwiseInverse().asDiagonal();
    EXPECT_LT((training.trainer->estimates() - estimates).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(PushSumTrainer, GoesOnWithTheWeightsOfItsRound) {
    constexpr int agents = 5;
    const Topography topography = push_sum_ring(agents);
    TrainerOptions options;
    options.steps.step_size = 0.01;
    options.rounds = 9;
    const Eigen::Vector2d initial(0.4, -1.5);
    test::SilentTraining whole(topography, quadratic_agents(agents), initial, options);
    test::SilentTraining later(topography, quadratic_agents(agents), initial, options);
    whole.run(4);
    later.trainer->start_from(whole.trainer->models());
    later.trainer->start_smoothing_from(Eigen::MatrixXd(2, 0), Eigen::MatrixXd(2, 0), 4);
    EXPECT_EQ(later.trainer->estimates(), whole.trainer->estimates());
    later.next = 4;
    whole.run(5);
    later.run(5);
    EXPECT_EQ(later.trainer->estimates(), whole.trainer->estimates());
}

TEST(PushSumTrainer, LearnsWhatAllAgentsLearnTogether) {
    // Row-stochastic weights come to another optimum on this graph, push-sum to that of all.
    constexpr int agents = 6;
    Topography topography = push_sum_ring(agents);
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.rounds = 80'000;
    const Eigen::Vector2d initial(0.4, -1.5);
    Eigen::Vector2d optimum = Eigen::Vector2d::Zero();
    {
        // Gradients are linear: their mean at two points gives where it is zero.
        const auto mean_gradient = [&](const Eigen::Vector2d& at) {
            Eigen::Vector2d sum = Eigen::Vector2d::Zero(), one;
            for (int u = 0; u < agents; ++u) {
                make_quadratic_objective(u, agents)->mean_gradient(at, {}, one);
                sum += one / agents;
            }
            return sum;
        };
        Eigen::Matrix2d slope;
        const Eigen::Vector2d at_zero = mean_gradient(optimum);
        for (int i = 0; i < 2; ++i)
            slope.col(i) = mean_gradient(Eigen::Vector2d::Unit(i)) - at_zero;
        optimum = slope.inverse() * -at_zero;
    }
    // A constant step leaves a distance in proportion to it: two steps say what none would leave.
    const auto limit = [&](MixingRule rule) {
        topography.mixing = MixingMatrix::from_rule(topography.graph, rule);
        const auto end_with = [&](double step) {
            TrainerOptions with = options;
            with.steps.step_size = step;
            test::SilentTraining training(topography, quadratic_agents(agents), initial, with);
            training.run(options.rounds);
            return Eigen::MatrixXd(training.trainer->estimates());
        };
        const Eigen::MatrixXd estimates = 2 * end_with(1e-4) - end_with(2e-4);
        return Eigen::VectorXd((estimates.colwise() - optimum).colwise().norm());
    };
    EXPECT_LT(limit(MixingRule::push_sum).maxCoeff(), 0.005);
    EXPECT_GT(limit(MixingRule::row_stochastic).minCoeff(), 0.02);
}

}  // namespace
}  // namespace sotto
