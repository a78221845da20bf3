#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto::test {

/// Three agents; a private stream each, one stream of agents 0 and 1 that cancels, one of all
/// three. Every field differs from its default, apart from those that have only one valid value.
inline NoisePlan sample_plan() {
    NoisePlan plan;
    plan.mechanism = "hand-made";
    plan.agents = 3;
    plan.scale = 0.1;  // not a binary fraction
    plan.grid_step_log2 = -30;
    plan.groups = {{{0}}, {{1}}, {{2}}, {{0, 1}}, {{0, 1, 2}}};
    plan.streams = {{0, 0, StreamDistribution::gaussian},
                    {1, 0, StreamDistribution::gaussian},
                    {2, 0, StreamDistribution::gaussian},
                    {3, 7, StreamDistribution::gaussian},
                    {4, 0, StreamDistribution::gaussian},
                    {4, 1, StreamDistribution::gaussian}};
    plan.rows = {{0, NoiseRow::all_receivers, {0, 3, 4, 5}, {1.0, 2.0 / 3, 1e-17, -0.5}},
                 {1, NoiseRow::all_receivers, {1, 3}, {0.7, -2.0 / 3}},
                 {2, NoiseRow::all_receivers, {2, 5}, {1.1, 0.25}}};
    return plan;
}

/// The same with other kinds of everything: banded factor, noise in the message, Laplace, rows that
/// depend on the receiver.
inline NoisePlan unusual_plan() {
    NoisePlan plan = sample_plan();
    plan.temporal.kind = TemporalFactor::Kind::banded;
    plan.temporal.lower.resize(4, 2);
    plan.temporal.lower << 1, 0, 1.1, -0.3, 1.2, -0.4, 1.3, -0.1;
    plan.entry = NoiseEntry::message;
    plan.aggregation = Aggregation::trusted_mean;
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    plan.rows = {{0, 0, {0, 3}, {1.0, 2.0}},
                 {0, 1, {0, 4}, {-1.0, 0.5}},
                 {1, NoiseRow::all_receivers, {1}, {0.7}},
                 {2, 1, {2}, {1.1}}};
    return plan;
}

inline NoisePlan dense_plan() {
    NoisePlan plan = sample_plan();
    plan.temporal.kind = TemporalFactor::Kind::dense;
    plan.temporal.lower = Eigen::MatrixXd::Identity(3, 3);
    plan.temporal.lower(2, 0) = -0.3;
    return plan;
}

inline NoisePlan noiseless_plan() {
    NoisePlan plan;
    plan.mechanism = "none";
    plan.agents = 2;
    plan.grid_step_log2 = -40;
    return plan;
}

/// One change to a plan, and what to call it.
struct Change {
    std::string name;
    std::function<void(NoisePlan&)> apply;
};

}  // namespace sotto::test
