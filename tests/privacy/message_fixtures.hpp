#pragma once

#include "privacy/privacy_fixtures.hpp"

namespace sotto::test {

/// Noise on messages from private streams: `coefficients[v]` for receiver v of agent 0's row, the
/// first for itself.
inline NoisePlan one_sender(const Eigen::MatrixXd& coefficients, StreamDistribution distribution) {
    const auto receivers = static_cast<int>(coefficients.rows());
    NoisePlan plan = blank_plan(receivers, 1);
    plan.rows.clear();
    plan.entry = NoiseEntry::message;
    plan.groups.push_back({{0}});
    std::vector<int> streams;
    for (Eigen::Index k = 0; k < coefficients.cols(); ++k) {
        streams.push_back(static_cast<int>(k));
        plan.streams.push_back({0, static_cast<std::uint64_t>(k), distribution});
    }
    for (int v = 0; v < receivers; ++v)
        plan.rows.push_back(
            {0, v, streams, {coefficients.row(v).begin(), coefficients.row(v).end()}});
    plan.validate();
    return plan;
}

}  // namespace sotto::test
