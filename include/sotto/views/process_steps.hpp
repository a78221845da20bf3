#pragma once

#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/step_schedule.hpp"

namespace sotto {

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
