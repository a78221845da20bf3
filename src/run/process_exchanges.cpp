#include "run/process_exchanges.hpp"

namespace sotto {

void set_exchanges(MessageProcess& process, const PlanConfig& plan) {
    process.gossip = plan.gossip_steps;
}

SumRules sum_rules(const PlanConfig& plan, int mask_partners) {
    return {plan.gossip_steps, mask_partners};
}

}  // namespace sotto
