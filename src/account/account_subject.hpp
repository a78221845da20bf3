#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "planning/build_topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/privacy/exposure.hpp"
#include "sotto/privacy/plan_use.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/views/message_process.hpp"

namespace sotto {

/// What an account is about.
struct SubjectConfig {
    GraphConfig graph;
    PlanConfig plan;
    std::optional<double> sensitivity;  ///< Delta, instead of what adjacency and clip imply
    double l2 = 0;                      ///< regularisation of the training
    bool fixed_inputs = false;          ///< inputs do not depend on messages
    std::string departures;             ///< "ROUND:a,b;ROUND:c"

    /// Whether Delta is given, by itself or with the noise, rather than implied by the adjacency.
    [[nodiscard]] bool gives_sensitivity() const {
        return sensitivity.has_value() || plan.noise_std.has_value();
    }
};

/// Graph, plan and rounds an account is about. The same on every process.
struct AccountSubject {
    AccountSubject(BuiltTopography topography, NoisePlan noise);
    AccountSubject(const AccountSubject&) = delete;
    AccountSubject& operator=(const AccountSubject&) = delete;
    BuiltTopography built;
    NoisePlan plan;
    std::vector<Exposure> exposures;  ///< one per agent; sens2 counts the plan's temporal factor
    double delta = 0;                 ///< of its guarantees; 0 under Laplace noise
    PlanUse use;
    MessageProcess process;  ///< points to the graph and the plan of this object
    double plan_seconds = 0;
    /// Of a training that was read again (account_subject_of), which `process` borrows from.
    std::vector<PrivacyPhase> phases;
    std::vector<NoisePlan> phase_plans;
};
/// Builds the graph and solves the plan on process 0, for all. COLLECTIVE.
/// @throws ConfigError, DataError, PrivacyError.
[[nodiscard]] std::unique_ptr<AccountSubject> build_account_subject(const SubjectConfig& config,
                                                                    Network& network);

}  // namespace sotto
