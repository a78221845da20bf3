#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// BLAKE2b of an agent's seed: binding, and hiding because a seed has 256 random bits.
struct SeedCommitment {
    int agent = 0;
    int group = 0;
    std::string blake2b;  ///< 64 hexadecimal digits
};

/// Data that a process sends to rank 0 for the manifest.
struct ProcessNote {
    std::string host;
    std::string network;      ///< the MPI library
    bool keys_locked = true;  ///< no secret key can be written to swap
    std::vector<SeedCommitment> commitments;
};

[[nodiscard]] std::string to_json(const ProcessNote& note);
/// Maximum bytes of a note from a process with this many agents, each of which may hold every seed.
[[nodiscard]] std::uint64_t largest_note_bytes(const NoisePlan& plan, std::uint64_t agents);
/// Ignores unknown keys. @throws NetworkError naming the rank for an invalid note.
[[nodiscard]] ProcessNote process_note_from_json(std::string_view text, std::size_t rank);

/// Record numbers of a process's agents: "120 80 ".
[[nodiscard]] std::string records_to_text(const std::vector<Eigen::Index>& records);
/// @throws NetworkError naming the rank unless the text has only numbers from 0.
[[nodiscard]] std::vector<Eigen::Index> records_from_text(std::string_view text, std::size_t rank);

}  // namespace sotto
