#pragma once

#include <filesystem>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// Writes the seeds an agent holds to `folder`/<agent>/seeds.json, mode 0600.
/// @throws ConfigError if it cannot be written.
void record_seeds(const std::filesystem::path& folder, const NoisePlan& plan, const KeyRing& ring);

/// Reads what record_seeds wrote. An agent may turn out to hold seeds that the plan does not
/// entitle it to: whoever reads them decides what that means.
/// @throws DataError naming the file and what is wrong: another format or plan, an agent or group
/// the plan does not have, members that are not the group's, a seed of the agent's that is missing
/// or not 64 hexadecimal digits.
[[nodiscard]] KeyRing read_recorded_seeds(const std::filesystem::path& file, const NoisePlan& plan);

}  // namespace sotto
