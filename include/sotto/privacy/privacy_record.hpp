#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/exposure.hpp"
#include "sotto/privacy/plan_use.hpp"
#include "sotto/privacy/sum_hiding.hpp"

namespace sotto {

/// Rounds under one noise plan, with keys of their own: from the beginning of a run, or from where
/// it was taken up, to where it ended or was lost.
struct PrivacyPhase {
    NoisePlan plan;                   ///< of places
    Membership members;               ///< who is there
    std::vector<double> sensitivity;  ///< Delta_u of every place
    /// q_u of every place with Poisson sampling; empty: 1 everywhere.
    std::vector<double> sampling_probability;
    PlanUse use;      ///< of places; begins at use.steps.first_round of the run
    long rounds = 0;  ///< whose messages may have left; the next phase may repeat some
    std::uint32_t key_epoch = 0;
    /// Ids of the starts that sent in it, in order: the session of the handshake of each, which
    /// nobody chooses and none has twice.
    std::vector<Digest> sessions{};

    /// q_u of a place.
    [[nodiscard]] double probability(int place) const {
        return sampling_probability.empty()
                   ? 1
                   : sampling_probability.at(static_cast<std::size_t>(place));
    }
};
/// A phase of everybody, from the first round on.
[[nodiscard]] PrivacyPhase first_phase(NoisePlan plan,
                                       std::span<const Exposure> exposures,
                                       PlanUse use,
                                       long rounds);

/// What happens in a training, as far as its guarantee depends on it. Whoever counts what it
/// revealed (Ledger) reads it; nothing is counted here.
struct PrivacyRecord {
    std::vector<PrivacyPhase> phases;    ///< in order, at least one; the last one is under way
    std::vector<PrivacyBudget> budgets;  ///< of all agents of the run, by number, for the whole run
    Adjacency adjacency = Adjacency::agent;
    long rounds = 0;     ///< the run is planned for
    long dimension = 0;  ///< values of a message; 0: not known, and tails are not counted
    bool reproducible_noise = false;  ///< keys come from a noise seed, not the operating system
    /// "roster <digest>" of a run whose agents proved who they are, "unauthenticated" of any other
    /// run, empty for a plan that nobody runs yet.
    std::string authentication = "unauthenticated";
    std::optional<SumHiding> secure_sums;      ///< what they hide, where agents learn sums only
    std::vector<std::string> more_statements;  ///< about how this run is carried out

    [[nodiscard]] const PrivacyPhase& now() const { return phases.back(); }
    /// The phases before; their rounds have all been sent.
    [[nodiscard]] std::span<const PrivacyPhase> past() const {
        return std::span(phases).first(phases.size() - 1);
    }
    [[nodiscard]] int agents() const { return now().members.all; }
};

/// Whether the models that agents keep are functions of what the guarantee is about: of messages,
/// where an agent mixes the one it sends, or of the mean that a trusted aggregator returns. Not
/// where the copy it keeps has a row of its own in the plan.
[[nodiscard]] bool models_follow_from_messages(const NoisePlan& plan);

/// Sentences a reader must know: who is not protected, and what is not covered; more_statements
/// stand last.
[[nodiscard]] std::vector<std::string> statements_of(const PrivacyRecord& record);

}  // namespace sotto
