#pragma once

#include <span>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Whether an agent that has departed had a part in the noise.
[[nodiscard]] bool lacks_noise(const NoisePlan& plan, const Phase& phase);

/// What changes noisy gradients and messages after them. @throws ConfigError for less than one
/// gossip step, numbers of them that differ by phase, a momentum or final gossip out of range;
/// PrivacyError where the bound for all messages does not cover them: momentum with noise on
/// messages, and all three where receivers get messages of their own.
void check_smoothing(const MessageProcess& process);
/// @throws ConfigError and PrivacyError as view_sensitivity.
void check_process(const MessageProcess& process);
/// The same for a view of a process that is well. @throws ConfigError.
void check_view(const MessageProcess& process, const View& view, std::span<const int> targets);

}  // namespace sotto
