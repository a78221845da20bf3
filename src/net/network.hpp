#pragma once

#include <memory>
#include <span>

#include "net/control.hpp"
#include "net/neighbour_exchange.hpp"

namespace sotto {

/// Everything that training needs from the other agents. Functions take the part that they use.
class Network : public Control, public NeighbourExchange {
  public:
    /// A network of the remaining processes, their agents renumbered in the same order; null on
    /// processes that leave. This network must not be used afterwards. COLLECTIVE.
    /// @param leaving agents, ascending, the same on every process; several processes must have one
    /// agent each.
    [[nodiscard]] virtual std::unique_ptr<Network> without(std::span<const int> leaving) = 0;

  protected:
    using Control::Control;
};

}  // namespace sotto
