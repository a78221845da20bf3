#pragma once

#include <string>

#include "sotto/views/view.hpp"

namespace sotto {

/// Why a figure holds.
struct Argument {
    std::string text;
    bool sound = false;  ///< for gradients that follow messages, or for inputs that follow none
};

/// "all messages seen"; of partial views "exact, inputs fixed in advance" where inputs do not
/// depend on messages, and "non-adaptive ([U] Theorem 8)" in a training. Figures of all messages
/// that are a view's own are called exact too where inputs are fixed.
/// @param counts_all_messages the figure is what all messages show (view_losses): of a partial view
/// "bound: all messages seen", which it cannot exceed.
[[nodiscard]] Argument argument_of(const View& view, bool fixed_inputs, bool counts_all_messages);

}  // namespace sotto
