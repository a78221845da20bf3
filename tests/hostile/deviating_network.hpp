#pragma once

#include <memory>

#include "hostile/deviation.hpp"

namespace sotto::test {

/// The network of a rank that deviates: everything else is as the real one does it, encryption and
/// addresses included.
[[nodiscard]] std::unique_ptr<Network> make_deviating_network(std::unique_ptr<Network> inner,
                                                              const Deviation& deviation);

}  // namespace sotto::test
