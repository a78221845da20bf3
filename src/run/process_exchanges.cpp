#include "run/process_exchanges.hpp"

namespace sotto {

void set_exchanges(MessageProcess& process, const PlanConfig& plan) {
    process.gossip = plan.gossip_steps;
}

}  // namespace sotto
