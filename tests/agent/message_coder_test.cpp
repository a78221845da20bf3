#include "agent/message_coder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/memory_network.hpp"
#include "net/nibbles.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Steps that halve in round 3.
MessageSteps halving_steps() { return MessageSteps::parse("-4,-6;-7;0:0,3:1", 100); }

std::vector<LocalAgent> agents_of(int count) {
    std::vector<LocalAgent> agents;
    for (int u = 0; u < count; ++u) agents.push_back({u, nullptr, BatchSampler::in_order(1)});
    return agents;
}

/// All agents in one place.
struct CodedAgents {
    CodedAgents(const Topography& topography, Eigen::Index dimension, MessageSteps steps)
        : mixing(topography.mixing),
          coder(mixing, agents_of(mixing.agents()), dimension, std::move(steps)) {
        coder.keep_heard();
    }
    /// What mixing makes of these messages.
    Eigen::MatrixXd mixed(ExchangeId id, const Eigen::MatrixXd& messages) {
        coder.encode(id, messages, 1);
        Eigen::MatrixXd result(messages.rows(), messages.cols());
        for (int u = 0; u < mixing.agents(); ++u) {
            std::vector<const double*> codes;
            for (const int v : mixing.members(u))
                codes.push_back(coder.outgoing()[static_cast<std::size_t>(v)].to_all);
            const auto local = static_cast<std::size_t>(u);
            const auto heard = coder.heard(local, 0, messages.rows(), codes);
            for (std::size_t j = 0; j < codes.size(); ++j)
                same_at_both_ends = same_at_both_ends &&
                                    Eigen::Map<const Eigen::VectorXd>(heard[j], messages.rows()) ==
                                        coder.known().col(mixing.members(u)[j]);
            EXPECT_FALSE(coder.mix(local,
                                   0,
                                   codes,
                                   {messages.col(u).data(), as_size(messages.rows())},
                                   {result.col(u).data(), as_size(messages.rows())}));
        }
        return result;
    }
    /// m + (W - I) xhat, from scratch; the sums are exact.
    [[nodiscard]] Eigen::MatrixXd from_scratch(const Eigen::MatrixXd& messages) const {
        Eigen::MatrixXd result = messages;
        for (int u = 0; u < mixing.agents(); ++u) {
            Eigen::VectorXd sum = Eigen::VectorXd::Zero(messages.rows());
            const auto weights = coder.weights(static_cast<std::size_t>(u));
            for (std::size_t j = weights.size(); j-- > 0;)
                sum += weights[j] * coder.known().col(mixing.members(u)[j]);
            result.col(u) += sum - coder.known().col(u);
        }
        return result;
    }
    static std::size_t as_size(Eigen::Index value) { return static_cast<std::size_t>(value); }

    MixingMatrix mixing;
    MessageCoder coder;
    bool same_at_both_ends = true;
};

Eigen::MatrixXd random_messages(SeededRandom& random,
                                Eigen::Index dimension,
                                int agents,
                                double size) {
    Eigen::MatrixXd messages(dimension, agents);
    for (double& value : messages.reshaped()) value = size * random.normal();
    return messages;
}

TEST(MessageCoder, KeepsTheMeanAndNeverDrifts) {
    // Whatever is rounded: small moves, moves far beyond 4 bits, nothing, and the limit.
    SeededRandom random(5, "test.agent.coder");
    for (const Topology family : {Topology::ring, Topology::star, Topology::erdos_renyi}) {
        CodedAgents agents(test::topography_of(family, 9), 50, halving_steps());
        const double limit = halving_steps().limit();
        for (long round = 0; round < 7; ++round)
            for (const double size : {0.1, 1000.0, 0.0, limit, 1e-300}) {
                Eigen::MatrixXd messages = random_messages(random, 50, 9, size);
                messages = messages.cwiseMax(-limit).cwiseMin(limit);
                const Eigen::MatrixXd mixed =
                    agents.mixed({round, static_cast<int>(round % 2)}, messages);
                EXPECT_EQ(mixed, agents.from_scratch(messages));
                const Eigen::VectorXd moved = mixed.rowwise().sum() - messages.rowwise().sum();
                EXPECT_LE(moved.cwiseAbs().maxCoeff(),
                          1e-14 * std::max(1.0, mixed.cwiseAbs().maxCoeff()) * 9);
                const double step = halving_steps().at({round, static_cast<int>(round % 2)});
                EXPECT_LE((agents.coder.known() - messages).cwiseAbs().maxCoeff(), step / 2);
                for (const Outgoing& sent : agents.coder.outgoing())
                    EXPECT_LE(
                        Eigen::Map<const Eigen::VectorXd>(sent.to_all, 50).cwiseAbs().maxCoeff(),
                        largest_code);
            }
        EXPECT_TRUE(agents.same_at_both_ends);
    }
}

TEST(MessageCoder, MixesAsTheMatrixDoesUpToTheStep) {
    // X = W Phi + (I - W) (Phi - Xhat).
    SeededRandom random(6, "test.agent.coder");
    const Topography topography = test::topography_of(Topology::ring, 8);
    CodedAgents agents(topography, 40, halving_steps());
    const Eigen::MatrixXd messages = random_messages(random, 40, 8, 1);
    const Eigen::MatrixXd mixed = agents.mixed({0, 0}, messages);
    const Eigen::MatrixXd wanted = messages * topography.mixing.dense().transpose();
    const double step = halving_steps().at({0, 0});
    const double largest = (mixed - wanted).cwiseAbs().maxCoeff();
    EXPECT_LE(largest, 2 * step / 2 + 1e-5);
    EXPECT_GT(largest, step / 8);
}

TEST(MessageCoder, SendsWholeMessagesAgainAfterARestart) {
    SeededRandom random(7, "test.agent.coder");
    CodedAgents agents(test::topography_of(Topology::ring, 5), 20, halving_steps());
    const Eigen::MatrixXd messages = random_messages(random, 20, 5, 3);
    const Eigen::MatrixXd first = agents.mixed({0, 0}, messages);
    (void)agents.mixed({1, 0}, random_messages(random, 20, 5, 1));
    agents.coder.restart();
    EXPECT_TRUE(agents.coder.known().isZero(0));
    EXPECT_EQ(agents.mixed({0, 0}, messages), first);
}

TEST(MessageCoder, FindsSumsThatNoAgentsMaySend) {
    CodedAgents agents(test::topography_of(Topology::ring, 3), 4, halving_steps());
    Eigen::MatrixXd codes = Eigen::MatrixXd::Zero(4, 3);
    codes(2, 1) = 0x1p26;
    const std::vector<const double*> columns{
        codes.col(0).data(), codes.col(1).data(), codes.col(2).data()};
    const Eigen::VectorXd message = Eigen::VectorXd::Zero(4);
    Eigen::VectorXd mixed(4);
    agents.coder.encode({0, 0}, Eigen::MatrixXd::Zero(4, 3), 1);
    std::optional<Eigen::Index> beyond;
    int exchanges = 0;
    while (!beyond && exchanges < 1000) {
        beyond = agents.coder.mix(0, 0, columns, {message.data(), 4}, {mixed.data(), 4});
        ++exchanges;
    }
    EXPECT_EQ(beyond, 2);
    EXPECT_GT(exchanges, 1);
}

TEST(MessageCoder, NeedsColumnsThatSumToOne) {
    const Graph path = Graph::from_edges(3, {{0, 1}, {1, 2}});
    EXPECT_NO_THROW(require_codable(MixingMatrix::from_rule(path, MixingRule::metropolis)));
    EXPECT_THROW(require_codable(MixingMatrix::from_rule(path, MixingRule::row_stochastic)),
                 ConfigError);
    EXPECT_THROW(require_codable(MixingMatrix::from_rule(path, MixingRule::push_sum)), ConfigError);
}

/// Models after rounds of the whole Trainer.
Eigen::MatrixXd trained(const Topography& topography,
                        const NoisePlan& plan,
                        const test::NoiseRun& run,
                        std::int64_t* bytes = nullptr) {
    const auto network = make_memory_network(topography.graph.agents(), 1);
    Eigen::MatrixXd models = test::observe_rounds(*network, topography, plan, run, {});
    if (bytes != nullptr) *bytes = network->bytes_sent();
    return models;
}

TEST(ShortMessages, LeaveTheMeanAndAddTheDisagreementOfRounding) {
    // X - X' of runs with the same noise and constant gradients: D <- W D + (I - W) e.
    for (const Topology family : {Topology::ring, Topology::erdos_renyi})
        for (const int exchanges : {1, 3}) {
            const int n = 12;
            const Topography topography = test::topography_of(family, n);
            const NoisePlan plan = test::plan_of({"Pairs", "pairs", {Utility::Kind::horizon, 20}},
                                                 topography,
                                                 test::uneven_limits(n));
            test::NoiseRun run;
            run.gossip = exchanges;
            run.dimension = 2000;
            std::int64_t bytes = 0, short_bytes = 0;
            const Eigen::MatrixXd exact = trained(topography, plan, run, &bytes);
            StepSchedule steps;
            steps.step_size = run.step_size;
            run.message_steps = MessageSteps(predicted_motion({.plan = plan,
                                                               .mixing = topography.mixing,
                                                               .gossip = run.gossip,
                                                               .rounds = run.rounds}),
                                             steps,
                                             run.rounds);
            const Eigen::MatrixXd models = trained(topography, plan, run, &short_bytes);
            const Eigen::VectorXd moved = (models - exact).rowwise().mean();
            EXPECT_LE(moved.cwiseAbs().maxCoeff(), 1e-12);
            const double ratio = static_cast<double>(bytes) / static_cast<double>(short_bytes);
            EXPECT_GT(ratio, 14.5);
            EXPECT_LT(ratio, 16.1);

            const Eigen::MatrixXd mixing = topography.mixing.dense();
            const Eigen::MatrixXd rest = Eigen::MatrixXd::Identity(n, n) - mixing;
            Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(n, n);
            for (long round = 0; round < run.rounds; ++round)
                for (int k = 0; k < exchanges; ++k) {
                    const double step = run.message_steps->at({round, k});
                    covariance = mixing * covariance * mixing.transpose() +
                                 step * step / 12 * rest * rest.transpose();
                }
            const double expected = covariance.trace() / n;
            const double measured = (models - exact).squaredNorm() / static_cast<double>(n) /
                                    static_cast<double>(run.dimension);
            EXPECT_GT(measured, expected / 1.3) << exchanges;
            EXPECT_LT(measured, expected * 1.3) << exchanges;
        }
}

TEST(ShortMessages, StandModelsThatJump) {
    // Far beyond what the plan predicts, every few rounds, and then beyond the range.
    const Topography topography = test::topography_of(Topology::ring, 6);
    std::vector<LocalAgent> agents;
    for (int u = 0; u < 6; ++u)
        agents.push_back(test::local_agent(u,
                                           std::make_unique<test::FunctionObjective>(
                                               3,
                                               [u, round = 0](const auto&) mutable {
                                                   const double size =
                                                       ++round % 3 == 0 ? 1e4 * (u + 1) : 1e-9;
                                                   return Eigen::Vector3d(size, -size, u);
                                               }),
                                           1));
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps.step_size = 1;
    options.message_steps = MessageSteps::parse("-5;;0:0", 100);
    test::SilentTraining training(
        topography, std::move(agents), Eigen::Vector3d(1e3, 0x1p-1070, -5), options, -40);
    training.network->set_message_precision(MessagePrecision::nibble);
    Eigen::Vector3d mean(1e3, 0, -5);
    for (long round = 0; round < 9; ++round) {
        training.run(1);
        const double size = (round + 1) % 3 == 0 ? 3.5e4 : 1e-9;
        mean -= Eigen::Vector3d(size, -size, 2.5);
        const Eigen::Vector3d found = training.trainer->models().rowwise().mean();
        EXPECT_LE((found - mean).cwiseAbs().maxCoeff(), 1e-9 * mean.cwiseAbs().maxCoeff());
        const Eigen::MatrixXd apart = training.trainer->models().colwise() - mean;
        EXPECT_LE(apart.cwiseAbs().maxCoeff(), 1e5);
    }
    EXPECT_TRUE(training.trainer->report(0).empty());
    EXPECT_LT(training.trainer->message_limit(), 0x1p25);
}

}  // namespace
}  // namespace sotto
