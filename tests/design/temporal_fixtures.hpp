#pragma once

// Temporal factors against dense matrices.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "design/noise_fixtures.hpp"
#include "design/shaped_factor.hpp"
#include "design/temporal_utility.hpp"
#include "plan/lagged_noise.hpp"

namespace sotto::test {

inline constexpr int few_agents = 6;

inline MixingMatrix mixing_of(MixingRule rule, std::uint64_t seed = 2) {
    return MixingMatrix::from_rule(make_graph(Topology::erdos_renyi, few_agents, seed, 0.5), rule);
}
inline std::vector<double> falling_steps(Eigen::Index rounds) {
    std::vector<double> steps;
    for (Eigen::Index t = 0; t < rounds; ++t)
        steps.push_back(1 / std::sqrt(1 + 0.1 * static_cast<double>(t)));
    return steps;
}
inline ShapedFactor shaped(const MixingMatrix& mixing,
                           Eigen::Index rounds,
                           long cycle,
                           const TemporalShape& shape) {
    return solve_shaped_factor(mixing,
                               Eigen::MatrixXd::Identity(few_agents, few_agents),
                               falling_steps(rounds),
                               1,
                               cycle,
                               shape);
}
inline TemporalShape banded_shape(long band, long restart = 0) {
    return {TemporalShape::Kind::banded, band, restart};
}
inline constexpr TemporalShape dense_shape{};
inline constexpr TemporalShape one_lag_shape{TemporalShape::Kind::one_lag, 0, 0};

inline Eigen::MatrixXd gram_of(const TemporalFactor& factor, long rounds) {
    const Eigen::MatrixXd lower = dense_factor(factor, rounds);
    return lower.transpose() * lower;
}
/// max over patterns of sum |X_st|, by the definition.
inline double brute_force_sensitivity(const Eigen::MatrixXd& gram, long cycle) {
    double largest = 0;
    for (long j = 0; j < cycle; ++j) {
        double sum = 0;
        for (Eigen::Index s = j; s < gram.rows(); s += cycle)
            for (Eigen::Index t = j; t < gram.rows(); t += cycle) sum += std::abs(gram(s, t));
        largest = std::max(largest, sum);
    }
    return largest;
}
/// Tr(H X^-1) sens2 / ceil(T/b), by dense matrices.
inline double cost_of(const MixingMatrix& mixing,
                      const TemporalFactor& factor,
                      Eigen::Index rounds,
                      long cycle) {
    const Eigen::MatrixXd h = temporal_utility(
        mixing, Eigen::MatrixXd::Identity(few_agents, few_agents), falling_steps(rounds));
    const Eigen::MatrixXd gram = gram_of(factor, rounds);
    return (h * gram.inverse()).trace() * brute_force_sensitivity(gram, cycle) /
           std::ceil(static_cast<double>(rounds) / static_cast<double>(cycle));
}

}  // namespace sotto::test
