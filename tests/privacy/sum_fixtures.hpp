#pragma once

#include "sotto/privacy/privacy_record.hpp"

namespace sotto::test {

/// Five agents in a schedule of two rounds: one colluder learns nothing, two have agent 1's message
/// in round 1 and agent 0's in both, three were not looked at.
inline SumHiding five_agents() {
    SumsAgainst one;
    one.colluders = 1;
    one.computed = true;
    one.rounds_exposed = {0, 0, 0, 0, 0};
    one.least_hidden = 0.8164;
    one.smallest_sum = 3;
    SumsAgainst two = one;
    two.colluders = 2;
    two.rounds_exposed = {2, 1, 0, 0, 0};
    two.least_hidden = 0;
    two.smallest_sum = 1;
    two.worst = SumExample{{0, 2}, {1}, 1};
    SumsAgainst three;
    three.colluders = 3;
    SumHiding hiding;
    hiding.agents = 5;
    hiding.rounds = 2;
    hiding.mask_partners = 16;
    hiding.against = {one, two, three};
    return hiding;
}

}  // namespace sotto::test
