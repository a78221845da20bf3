#pragma once

#include <string>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Why a figure holds.
struct Argument {
    std::string text;
    bool sound = false;  ///< for gradients that follow messages, or for inputs that follow none
};

/// "all messages seen"; of partial views "exact, inputs fixed in advance" where inputs do not
/// depend on messages, "non-adaptive ([U] Theorem 8)" in a training, and under Laplace noise
/// "bound: all messages seen", which such a view cannot exceed. Gaussian figures of all messages
/// are called exact too where inputs are fixed.
[[nodiscard]] Argument argument_of(const View& view, bool fixed_inputs, StreamDistribution noise);

}  // namespace sotto
