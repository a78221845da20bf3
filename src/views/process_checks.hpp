#pragma once

#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_record.hpp"

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

/// The step sizes of a training as a MessageProcess takes them; empty where all are equal and a
/// common factor changes nothing, which is faster, and under Laplace noise, which is no such
/// process. A training with regularisation, x(t+1) = W^K ((1 - eta_t l2) x(t) - eta_t (g(t)
/// + v(t))), is such a process of x(t) / a_t with steps eta_t / a_t, a_t = prod_{s=1..t} (1 - eta_s
/// l2): who sees a message sees its multiples. (Round 0 starts from what everybody knows.) Running
/// averages, eta_t = 1/(t+1) and l2 = 1, have equal steps.
/// @throws ConfigError unless l2 >= 0 is finite; with l2 > 0 where noise enters the message, where
/// eta_t l2 >= 1 after round 0, and where a_t falls below 1e-6.
[[nodiscard]] std::vector<double> process_steps(const NoisePlan& plan,
                                                const StepSchedule& steps,
                                                double l2,
                                                long rounds);

}  // namespace sotto
