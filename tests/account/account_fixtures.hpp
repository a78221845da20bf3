#pragma once

#include <memory>
#include <string>

#include "account/account_job.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::test {

inline AccountConfig config_of(const std::string& mechanism,
                               const std::string& view,
                               long rounds = 6) {
    AccountConfig config;
    config.subject.graph.topology.agents = 7;
    config.subject.graph.topology.edge_probability = 0.4;
    config.subject.plan.mechanism = mechanism;
    config.subject.plan.utility = {Utility::Kind::horizon, 10};
    config.subject.plan.rounds = rounds;
    config.subject.plan.noise_std = 1;
    config.view = view;
    return config;
}

struct Accounted {
    std::unique_ptr<AccountSubject> subject;
    AccountResult result;
};
inline Accounted account(const AccountConfig& config) {
    const auto network = make_memory_network(1, config.how.threads);
    Accounted accounted;
    accounted.subject = build_account_subject(config.subject, *network);
    accounted.result = run_account(config, *accounted.subject, *network);
    return accounted;
}

inline AccountConfig laplace_config(const std::string& mechanism,
                                    const std::string& view,
                                    long rounds) {
    AccountConfig config = config_of(mechanism, view, rounds);
    config.subject.graph.mixing = "lazy-metropolis";
    config.subject.plan.noise_std.reset();
    config.subject.plan.epsilon = 4;
    config.subject.plan.steps = {StepSchedule::Kind::constant, 0.2, {}};
    return config;
}

}  // namespace sotto::test
