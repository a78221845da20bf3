#include "views/past_noise.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// Plays the noise that these steps add to one row of the state when `source` is drawn in `drawn`.
Eigen::VectorXd played(const ViewRounds& rounds, int steps, long drawn, int source) {
    Eigen::VectorXd added(rounds.count());
    Eigen::VectorXd state = Eigen::VectorXd::Zero(0);
    for (long t = 0; t < rounds.count(); ++t)
        for (int k = 0; k < steps; ++k) {
            StepEntries step;  // one row that hears the noise of the first source, and no state
            step.state.rows = 1;
            step.previous = t + k == 0 ? 0 : 1;
            if (k == 0) step.state.from_sources.emplace_back(0, source, 1.0);
            step = with_past_noise(std::move(step), rounds, t, k);
            EXPECT_EQ(step.previous, state.size());
            Eigen::VectorXd next = Eigen::VectorXd::Zero(step.state.rows);
            for (const auto& entry : step.state.from_state)
                next(entry.row()) += entry.value() * state(entry.col());
            if (t == drawn && k == 0)
                for (const auto& entry : step.state.from_sources)
                    if (entry.col() == source) next(entry.row()) += entry.value();
            state = std::move(next);
            if (k == 0) added(t) = state(0);
        }
    return added;
}

TEST(PastNoise, MakesTheRoundsOfAStretchAsItsTemporalFactorSays) {
    const Graph graph = ring_with_a_chord();
    const View view{View::Kind::neighbours, {0}};
    constexpr long rounds = 6;
    for (const TemporalFactor& factor :
         {difference_factor(rounds), random_factor(TemporalFactor::Kind::banded, 2, rounds)})
        for (const int gossip_steps : {1, 3}) {
            const NoisePlan plan = with_factor(unit_plan(6), factor);
            const MessageProcess process =
                process_of(graph, plan, phases_of(graph, {{rounds}}), gossip_steps);
            const std::vector<LaggedNoise> noises{
                lagged_noise(factor, rounds, static_cast<int>(rounds))};
            const ViewRounds where(process, view, noises);
            ASSERT_GT(noises.front().lags, 0);
            EXPECT_EQ(past_noise_size(where, 2), 5 * noises.front().lags);
            const Eigen::MatrixXd inverse = time_factor({&plan, 0, rounds}).inverse();
            for (long drawn = 0; drawn < rounds; ++drawn)
                EXPECT_LE((played(where, gossip_steps, drawn, 3) - inverse.col(drawn)).norm(),
                          1e-10 * inverse.norm());
        }
}

TEST(PastNoise, OfIndependentRoundsIsNothing) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    const MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 3, 0)};
    const ViewRounds where(process, view, noises);
    EXPECT_EQ(past_noise_size(where, 1), 0);
    EXPECT_EQ(played(where, 1, 1, 0), Eigen::VectorXd::Unit(3, 1));
}

}  // namespace
}  // namespace sotto
