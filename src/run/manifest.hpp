#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "run/peer_notes.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/handshake.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// What this process contributes to the manifest.
[[nodiscard]] ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings);

/// The text of manifest.json (docs/run-directory.md).
/// @param process_notes JSON of every process's note. @throws NetworkError for what is no note.
[[nodiscard]] std::string manifest_json(const Network& network,
                                        const Topography& topography,
                                        const NoisePlan& plan,
                                        const Session& session,
                                        const std::optional<Credentials>& credentials,
                                        const Membership& members,
                                        const std::string& graph_description,
                                        const std::string& task_description,
                                        const TrainConfig& config,
                                        const std::vector<std::string>& process_notes);

}  // namespace sotto
