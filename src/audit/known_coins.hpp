#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "audit/canary_records.hpp"
#include "audit/coin_checks.hpp"

namespace sotto {

/// Coins of the target's canaries as they would be if they followed from --seed, which everybody
/// knows: by the key that --noise-seed gives for the same number, and of the batches that are drawn
/// without secret sampling.
/// @param probability q.  @param batch_size B.
[[nodiscard]] std::vector<KnownCoins> public_coins(const CanaryRecords& canaries,
                                                   std::uint64_t seed,
                                                   double probability,
                                                   Eigen::Index batch_size,
                                                   long rounds);

/// Coins of the members' own canaries, read off their recorded gradients.
/// @param views folder `views` of the run directory.
/// @throws DataError for recordings that are missing, or of other models or rounds.
[[nodiscard]] std::vector<KnownCoins> member_coins(const CanaryRecords& canaries,
                                                   const std::filesystem::path& views,
                                                   long rounds);

}  // namespace sotto
