#include "agent/robust_mixing.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<const double*> columns_of(const MatrixXd& messages) {
    std::vector<const double*> columns;
    for (Index u = 0; u < messages.cols(); ++u) columns.push_back(messages.col(u).data());
    return columns;
}

TEST(TrimmedSum, LeavesOutTheLargestAndSmallestOfEveryCoordinate) {
    MatrixXd messages(2, 4);
    messages << 1, 10, 2, -5,  //
        4, 3, 100, 2;
    const std::vector<double> weights{0.4, 0.1, 0.2, 0.3};
    std::vector<double> result(2);
    trimmed_sum(columns_of(messages), weights, 0, 1, result);
    // 10 and -5 are left out, then 100 and 2.
    EXPECT_NEAR(result[0], 0.8 * 1 + 0.2 * 2, 1e-15);
    EXPECT_NEAR(result[1], 0.9 * 4 + 0.1 * 3, 1e-15);
}

TEST(TrimmedSum, GivesWeightsOfMissingMessagesToTheOwnValue) {
    MatrixXd messages(1, 4);
    messages << 1, 10, 2, -5;
    auto columns = columns_of(messages);
    columns[1] = nullptr;
    std::vector<double> result(1);
    trimmed_sum(columns, std::vector<double>{0.4, 0.1, 0.2, 0.3}, 0, 1, result);
    EXPECT_NEAR(result[0], 1, 1e-15);
    columns[3] = columns[2] = nullptr;
    trimmed_sum(columns, std::vector<double>{0.4, 0.1, 0.2, 0.3}, 0, 1, result);
    EXPECT_NEAR(result[0], 1, 1e-15);
}

TEST(RobustMixing, ShortensDifferencesAboveTheGivenNorm) {
    const Topography three = test::topography_of(Topology::complete, 3);
    RobustMixing mixing({RobustRule::Kind::clip, 5, 0}, three.mixing, {0}, 2, std::nullopt, 1);
    MatrixXd messages(2, 3);
    messages << 1, 1, 31,  //
        1, 4, 41;
    VectorXd model = VectorXd::Zero(2);
    mixing.begin_round(0, {});
    const auto columns = columns_of(messages);
    std::vector<const double*> second;
    for (const double* column : columns) second.push_back(column + 1);
    // It comes in two pieces.
    EXPECT_FALSE(mixing.mix(0, 0, 0, 1, columns, messages.col(0).data(), model.data()));
    EXPECT_TRUE(mixing.mix(0, 0, 1, 1, second, messages.col(0).data(), model.data()));
    // (0, 3) stays, (30, 40) becomes (3, 4).
    EXPECT_NEAR(model(0), 1 + (0 + 3) / 3.0, 1e-12);
    EXPECT_NEAR(model(1), 1 + (3 + 4) / 3.0, 1e-12);
    const auto noticed = mixing.suspicions();
    ASSERT_EQ(noticed.size(), 2U);
    EXPECT_EQ(noticed[0].shortened, 0);
    EXPECT_EQ(noticed[1].shortened, 1);
    EXPECT_EQ(noticed[1].sender, 2);
}

TEST(RobustMixing, KeepsOfAnAverageWhatItsBoundAllows) {
    EXPECT_EQ(kept_of_average(1, 1), 1);
    EXPECT_NEAR(kept_of_average(1.5, 1), 1 / 3.0, 1e-15);
    EXPECT_EQ(kept_of_average(2, 1), 0);
    EXPECT_EQ(kept_of_average(20, 1), 0);
    EXPECT_EQ(kept_of_average(0, 0), 1);
}

/// Independent noise of deviation 1 for every agent.
NoisePlan noise_of_each(int agents) {
    NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = agents;
    plan.scale = 1;
    for (int u = 0; u < agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1}});
    }
    plan.grid_step_log2 = -40;
    return plan;
}

/// Mean over agents and coordinates of honest models after rounds in which the last agent's messages
/// have this added, and who is suspected by whom.
struct Outcome {
    double drift = 0;
    int suspected = 0, falsely = 0;
};

Outcome drift_of(double lie, long rounds) {
    constexpr int n = 8;
    constexpr Index dimension = 400;
    const Topography where = test::topography_of(Topology::complete, n);
    const NoisePlan plan = noise_of_each(n);
    std::vector<int> agents;
    for (int u = 0; u < n; ++u) agents.push_back(u);
    RobustMixing mixing({RobustRule::Kind::clip, std::nullopt, 0},
                        where.mixing,
                        agents,
                        dimension,
                        HonestSpread({plan, where.mixing, 1, 0.1, dimension, 50}),
                        1);
    SeededRandom random(3, "test.agent.robust");
    MatrixXd models = MatrixXd::Zero(dimension, n);
    for (long t = 0; t < rounds; ++t) {
        MatrixXd messages = models;
        for (double& value : messages.reshaped()) value += random.normal();
        MatrixXd sent = messages;
        sent.col(n - 1).array() += lie;
        mixing.begin_round(t, {});
        for (int u = 0; u + 1 < n; ++u)
            EXPECT_TRUE(mixing.mix(0,
                                   static_cast<std::size_t>(u),
                                   0,
                                   dimension,
                                   columns_of(sent),
                                   messages.col(u).data(),
                                   models.col(u).data()));
        models.col(n - 1) = models.leftCols(n - 1).rowwise().mean();
    }
    Outcome outcome;
    outcome.drift = models.leftCols(n - 1).mean();
    for (const Suspicion& one : mixing.suspicions()) {
        if (one.receiver == n - 1 || !one.suspected()) continue;
        ++(one.sender == n - 1 ? outcome.suspected : outcome.falsely);
    }
    return outcome;
}

TEST(RobustMixing, LeavesOutWhatANeighbourSaysAllTheTimeAndSuspectsNobodyElse) {
    constexpr long rounds = 200;
    const Outcome honest = drift_of(0, rounds);
    EXPECT_EQ(honest.suspected + honest.falsely, 0);
    for (const double lie : {0.7, 3.0, 100.0}) {
        const Outcome outcome = drift_of(lie, rounds);
        // As it is heard, a lie moves models by an eighth of it in every round.
        const double unhindered = std::min(lie, 1.4) / 8 * rounds;
        EXPECT_LT(std::abs(outcome.drift), 0.15 * unhindered) << lie;
        EXPECT_EQ(outcome.suspected, 7) << lie;
        EXPECT_EQ(outcome.falsely, 0) << lie;
    }
}

}  // namespace
}  // namespace sotto
