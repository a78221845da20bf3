#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/bootstrap.hpp"
#include "config/config.hpp"
#include "graph/topography.hpp"
#include "net/control.hpp"
#include "planning/build_topography.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/views/view_record.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

struct SubjectConfig {
    GraphConfig graph;
    AskedPlan plan;
    long dimension = 1;                 ///< parameters of the model, for what is left to the plan
    std::optional<double> sensitivity;  ///< Delta, instead of what adjacency and clip imply
    double l2 = 0;                      ///< regularisation of the training
    Inputs inputs = Inputs::adaptive;
    std::string departures;  ///< "ROUND:a,b;ROUND:c"
    /// What all agents of a run have enforced, as its sealed ledger says; nothing for options.
    std::optional<ConvexLosses> convex{};

    /// Whether Delta is given, directly or by the noise, rather than implied by the adjacency.
    [[nodiscard]] bool gives_sensitivity() const {
        return sensitivity.has_value() || plan.noise_std.has_value();
    }
};

/// Graph, plan and rounds to account for. The same on every process.
struct AccountSubject {
    AccountSubject(BuiltTopography topography, NoisePlan noise);
    AccountSubject(const AccountSubject&) = delete;
    AccountSubject& operator=(const AccountSubject&) = delete;
    BuiltTopography built;
    SettledPlan settled;  ///< what was asked for, with what was chosen
    NoisePlan plan;
    std::vector<Exposure> exposures;  ///< one per agent; sens2 includes the temporal factor
    double delta = 0;                 ///< of the guarantees; 0 under Laplace noise
    PlanUse use;
    MessageProcess process;  ///< refers to this object's graph and plan
    double plan_seconds = 0;
    /// Of a training that was read (account_subject_of); `process` refers to them.
    std::vector<PrivacyPhase> phases;
    std::vector<NoisePlan> phase_plans;
    std::vector<const PrivacyPhase*> surveys{};  ///< before its training
    long rounds = 0;                             ///< of a training that was read, that count
};
/// What the training's rounds reveal of a target to an observer, `squared` in units of its
/// sensitivity, together with what surveys before them do, of which the observer is taken to have
/// every message. @param members whose seeds the observer has, ascending.
[[nodiscard]] Guarantee guarantee_of_target(const AccountSubject& subject,
                                            const std::vector<int>& members,
                                            int target,
                                            double squared);
/// @throws ConfigError if surveys came before the training, which `option` does not count.
void require_no_surveys(const AccountSubject& subject, std::string_view option);

/// Whether nobody left or joined, so that convex losses bound partial views (convex_sensitivity).
[[nodiscard]] bool of_the_same_agents(const MessageProcess& process);

/// Builds the graph and solves the plan on process 0 for all. COLLECTIVE.
/// @throws ConfigError, DataError, PrivacyError.
[[nodiscard]] std::unique_ptr<AccountSubject> build_account_subject(const SubjectConfig& config,
                                                                    Control& network);

/// The rounds of a training whose messages were sent, by agents' numbers, without surveys before
/// it. Does not own its parts.
struct SentRounds {
    MessageProcess process;
    std::vector<const PrivacyPhase*> phases;     ///< one per phase of the process
    std::vector<long> rounds;                    ///< of these
    std::vector<const PrivacyPhase*> surveys{};  ///< which are no phase of the process
    long completed = 0;

    /// A phase in which the agent was present; null: it left before anything was sent.
    [[nodiscard]] const PrivacyPhase* of(int agent) const;
    /// Of an agent that was present, if rounds do not interact: counts the rounds of all phases in
    /// the participation pattern with the most.
    [[nodiscard]] Exposure exposure(int agent) const;
};

/// Of a guarantee for the training alone, and surveys before it, of which the observer is taken to
/// have every message. @param members whose seeds the observer has, ascending.
[[nodiscard]] Guarantee with_surveys(const Guarantee& training,
                                     const std::vector<const PrivacyPhase*>& surveys,
                                     const std::vector<int>& members,
                                     int target);

/// Plans of the phases, of all agents of the run.
[[nodiscard]] std::vector<NoisePlan> plans_by_number(const std::vector<PrivacyPhase>& phases);

/// Rounds of phase k that count after `rounds` rounds of the training; 0 or negative: none.
[[nodiscard]] long rounds_sent(const std::vector<PrivacyPhase>& phases, std::size_t k, long rounds);

/// After `rounds` rounds of the training.
/// @param topography of all agents.  @param phases complete, in order; the last one counts up to
/// `rounds`.  @param plans plans_by_number of them.
/// @throws ConfigError as process_steps.
[[nodiscard]] SentRounds sent_rounds(const TrainConfig& config,
                                     const Topography& topography,
                                     const std::vector<PrivacyPhase>& phases,
                                     const std::vector<NoisePlan>& plans,
                                     long rounds);

/// Sets the gossip of every phase, from its mixing, momentum and final gossip. @param process with
/// its graph and all phases.
void set_exchanges(MessageProcess& process, const PlanConfig& plan);

/// A mixing matrix of remaining agents as one of all agents: those that left keep their model.
[[nodiscard]] MixingMatrix mixing_of_all(const Graph& graph,
                                         const MixingMatrix& mixing,
                                         const Membership& members);

/// Phases of a run in which agents leave ("ROUND:a,b;ROUND:c": before round ROUND, from 0). The
/// mixing rule is applied to the remaining agents; an agent that left keeps weight 1 on itself.
/// @throws ConfigError for rounds that do not ascend inside the run, agents that do not exist or
/// left before, or mixing that is not a rule.
[[nodiscard]] std::vector<Phase> phases_of(const Topography& topography,
                                           const GraphConfig& config,
                                           const PlanConfig& plan,
                                           const std::string& departures);

}  // namespace sotto
