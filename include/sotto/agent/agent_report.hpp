#pragma once

#include <cstdint>

namespace sotto {

/// What training did to an agent's numbers so that nothing about its data shows in whether, or how,
/// the job goes on. It depends on the data: for the agent alone, never sent.
struct AgentReport {
    /// Rounds whose gradient was not finite and counted as zero (or some of its coordinates, where
    /// each is a model of its own).
    std::int64_t gradients_set_to_zero = 0;
    /// Records, of all rounds, whose gradient was not finite and counted as zero.
    std::int64_t records_set_to_zero = 0;
    /// Messages of which values were brought into the range that messages may have.
    std::int64_t messages_limited = 0;
    /// Gradients that the clip was for, of batches or of records, and those of them that it made
    /// shorter; both 0 where the objective does not count (Objective::counts_shortened_records).
    std::int64_t gradients = 0, gradients_shortened = 0;

    [[nodiscard]] bool empty() const {
        return gradients_set_to_zero == 0 && records_set_to_zero == 0 && messages_limited == 0;
    }
};

}  // namespace sotto
