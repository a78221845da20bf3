#pragma once

#include <string>
#include <string_view>

#include "sotto/net/network.hpp"

namespace sotto {

/// What an option leaves to the plan, for messages.
struct OpenChoice {
    std::string_view what;     ///< "K"
    std::string_view option;   ///< "--gossip-steps auto"
    std::string_view instead;  ///< "--gossip-steps K"
};

/// Process 0's choice, where this process leaves it open; empty otherwise. COLLECTIVE.
/// @param own in at most 64 characters what this process chose, empty where it did not choose.
/// @param open this process leaves it open.
/// @throws NetworkError where process 0 chose nothing, or something else than this process; the
/// same on every process.
[[nodiscard]] std::string agree_on_choice(Network& network,
                                          const OpenChoice& choice,
                                          bool open,
                                          const std::string& own);

}  // namespace sotto
