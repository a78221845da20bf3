#include "planning/hidden_by_sums.hpp"

#include <algorithm>

#include "planning/configured_gossip.hpp"
#include "sotto/sums/sum_colluders.hpp"

namespace sotto {

SumHiding hidden_by_sums(const Topography& topography,
                         const Membership& members,
                         SumRules rules,
                         int coalition_size,
                         int further) {
    SumHiding hiding = renumbered(
        what_sums_hide(
            topography.graph, topography.schedule(), rules, std::max(1, coalition_size), further),
        members.numbers,
        members.all);
    require_hiding(hiding);
    return hiding;
}

SumRules sum_rules(const PlanConfig& config, const Topography& topography, int mask_partners) {
    return {config.gossip_steps + final_gossip_steps(config, topography.schedule()), mask_partners};
}

}  // namespace sotto
