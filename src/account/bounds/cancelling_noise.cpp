#include "account/bounds/cancelling_noise.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/graph/spectrum.hpp"

namespace sotto {

namespace {

constexpr double rounding_of_weights = 1e-9;

bool is_symmetric(const MixingMatrix& mixing) {
    const SparseRows& weights = mixing.sparse();
    const SparseRows transposed = weights.transpose();
    return SparseRows(weights - transposed).norm() <= rounding_of_weights * weights.norm() &&
           (weights.nonZeros() == 0 || weights.coeffs().minCoeff() >= 0);
}

/// sum_v w_vu q_uv = 0 for every sender u, in every stream.
bool cancels_in_the_mean(const NoisePlan& plan, const MixingMatrix& mixing) {
    std::map<std::pair<int, int>, std::pair<double, double>> sums;  // signed, of absolute values
    for (const NoiseRow& row : plan.rows) {
        if (row.receiver == NoiseRow::all_receivers) return false;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            auto& [sum, size] = sums[{row.sender, row.streams[j]}];
            const double weighted = mixing.weight(row.receiver, row.sender) * row.coefficients[j];
            sum += weighted;
            size += std::abs(weighted);
        }
    }
    return std::ranges::all_of(sums, [](const auto& entry) {
        const auto& [sum, size] = entry.second;
        return std::abs(sum) <= rounding_of_weights * size;
    });
}

double variance_of(const NoiseRow& row, const NoisePlan& plan) {
    double variance = 0;
    for (std::size_t j = 0; j < row.streams.size(); ++j)
        variance +=
            row.coefficients[j] * row.coefficients[j] *
            unit_variance(plan.streams[static_cast<std::size_t>(row.streams[j])].distribution);
    return plan.scale * plan.scale * variance;
}

/// The largest over agents, of one coordinate.
double noise_in_a_model(const NoisePlan& plan, const MixingMatrix& mixing) {
    Eigen::VectorXd noise = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        noise(row.receiver) +=
            variance_of(row, plan) *
            (row.sender == row.receiver ? 1 : mixing.weight(row.receiver, row.sender));
    return noise.maxCoeff();
}

}  // namespace

std::optional<CancellingNoise> cancelling_noise(const TrainingBoundInput& input) {
    const PlanConfig& config = input.config;
    const MixingMatrix& mixing = input.topography.mixing;
    if (input.plan.noiseless() || input.plan.entry != NoiseEntry::message ||
        input.plan.aggregation != Aggregation::gossip || config.gossip_steps != 1 ||
        config.momentum != 0 || config.learn_clip || !input.topography.later_mixing.empty() ||
        config.steps.kind != StepSchedule::Kind::constant || !is_symmetric(mixing) ||
        !cancels_in_the_mean(input.plan, mixing))
        return std::nullopt;
    CancellingNoise terms;
    terms.step = config.steps.step_size;
    terms.gradient_norm = config.clip_norm;
    terms.second_eigenvalue = second_eigenvalue_modulus(mixing);
    terms.noise = static_cast<double>(input.dimension) * noise_in_a_model(input.plan, mixing);
    if (!(terms.second_eigenvalue < 1)) return std::nullopt;
    return terms;
}

}  // namespace sotto
