#pragma once

#include <string>

#include "world.hpp"

namespace sotto {

/// `bytes` of process `root` on every process. COLLECTIVE.
[[nodiscard]] std::string broadcast_from(MpiWorld& world, int root, const std::string& bytes);

/// The same where all know its size: `bytes` has it on every process. COLLECTIVE.
void broadcast_known(MpiWorld& world, int root, std::string& bytes);

}  // namespace sotto
