#pragma once

#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Whether a departed agent had a part in the noise.
[[nodiscard]] bool lacks_noise(const NoisePlan& plan, const Phase& phase);

/// Checks momentum and gossip.
/// @throws ConfigError for less than one gossip step, step counts that differ by phase, a momentum
/// or final gossip out of range; PrivacyError where the bound for all messages does not cover them:
/// momentum and corrections with noise on messages, and all three if messages depend on the
/// receiver.
void check_smoothing(const MessageProcess& process);
/// @throws ConfigError and PrivacyError as view_sensitivity.
void check_process(const MessageProcess& process);
/// Checks a view of a valid process.
/// @throws ConfigError.
void check_view(const MessageProcess& process, const View& view, std::span<const int> targets);

/// Step sizes of a training for a MessageProcess; empty, which is faster, if all are equal and a
/// common factor changes nothing, and under Laplace noise, which is no such process. A training
/// with regularisation, x(t+1) = W^K ((1 - eta_t l2) x(t) - eta_t (g(t) + v(t))), is such a process
/// of x(t) / a_t with steps eta_t / a_t, a_t = prod_{s=1..t} (1 - eta_s l2); round 0 starts from a
/// known model.
/// @throws ConfigError unless l2 >= 0 is finite; for l2 > 0 with noise on messages, if eta_t l2 >=
/// 1 after round 0, and if a_t falls below 1e-6.
[[nodiscard]] std::vector<double> process_steps(const NoisePlan& plan,
                                                const StepSchedule& steps,
                                                double l2,
                                                long rounds);

}  // namespace sotto
