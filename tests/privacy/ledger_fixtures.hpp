#pragma once

#include <string>
#include <vector>

#include "privacy/privacy_fixtures.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto::test {

inline constexpr long planned = 100;
inline constexpr double delta = 1e-5;

struct RecordOptions {
    Adjacency adjacency = Adjacency::agent;
    Participation participation{};
    bool reproducible_noise = false;
};

/// A run of one phase, in which agent u has sensitivity (1 + u) / 10.
inline PrivacyRecord make_record(const NoisePlan& plan, const RecordOptions& options = {}) {
    std::vector<Exposure> exposures;
    for (int u = 0; u < plan.agents; ++u) exposures.push_back({0.1 * (1 + u), 0, 10});
    PrivacyRecord record;
    record.phases = {first_phase(plan, exposures, {options.participation, {}, {}}, planned)};
    record.budgets.assign(static_cast<std::size_t>(plan.agents),
                          make_budget(10, delta, Calibration::exact));
    record.adjacency = options.adjacency;
    record.rounds = planned;
    record.reproducible_noise = options.reproducible_noise;
    return record;
}

inline Ledger make_ledger(const NoisePlan& plan, const RecordOptions& options = {}) {
    return Ledger(make_record(plan, options));
}

/// A run of which 40 of 100 rounds had left when it was resumed after round 30, without
/// agent 1: three private streams, then two quieter ones.
inline PrivacyRecord resumed_record() {
    PrivacyRecord record = make_record(private_plan({1, 2, 4}));
    record.phases.front().rounds = 40;
    PrivacyPhase second = record.phases.front();
    second.plan = private_plan({2, 8});
    second.members.numbers = {0, 2};
    second.sensitivity = {0.1, 0.3};
    second.use.steps.first_round = 30;
    second.rounds = 70;
    second.key_epoch = 1;
    record.phases.push_back(second);
    return record;
}

inline NoisePlan no_noise(int agents) {
    NoisePlan plan;
    plan.mechanism = "none";
    plan.agents = agents;
    return plan;
}

}  // namespace sotto::test
