#pragma once

#include <vector>

#include "config/config.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/views/message_process.hpp"

namespace sotto {

/// The rounds of a training whose messages were sent, as the accountant of views takes them, by
/// agents' numbers. Borrows what it is made of.
struct SentRounds {
    MessageProcess process;
    std::vector<const PrivacyPhase*> phases;  ///< one for each of the process
    std::vector<long> rounds;                 ///< of these
    long completed = 0;                       ///< of the training

    /// A phase in which the agent was there; null: it left before anything was sent.
    [[nodiscard]] const PrivacyPhase* of(int agent) const;
    /// Of an agent that was there; where rounds do not meet each other: those of all phases in the
    /// participation pattern that has most.
    [[nodiscard]] Exposure exposure(int agent) const;
};

/// Plans of the phases, of all agents of the run.
[[nodiscard]] std::vector<NoisePlan> plans_by_number(const std::vector<PrivacyPhase>& phases);

/// How many rounds of phase k count after `rounds` rounds of the training; not above 0: none.
[[nodiscard]] long rounds_sent(const std::vector<PrivacyPhase>& phases, std::size_t k, long rounds);

/// After `rounds` rounds of the training.
/// @param topography of all agents.  @param phases complete, in order; rounds of the last one are
/// counted up to `rounds`.  @param plans plans_by_number of them.
/// @throws ConfigError as process_steps.
[[nodiscard]] SentRounds sent_rounds(const TrainConfig& config,
                                     const Topography& topography,
                                     const std::vector<PrivacyPhase>& phases,
                                     const std::vector<NoisePlan>& plans,
                                     long rounds);

}  // namespace sotto
