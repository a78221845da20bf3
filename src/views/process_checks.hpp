#pragma once

#include <span>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Whether an agent that has departed had a part in the noise.
[[nodiscard]] bool lacks_noise(const NoisePlan& plan, const Phase& phase);

/// @throws ConfigError and PrivacyError as view_sensitivity.
void check_process(const MessageProcess& process);
/// The same for a view of a process that is well. @throws ConfigError.
void check_view(const MessageProcess& process, const View& view, std::span<const int> targets);

}  // namespace sotto
