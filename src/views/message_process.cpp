#include "sotto/views/message_process.hpp"

#include <algorithm>

#include "views/process_rounds.hpp"

namespace sotto {

bool Phase::has_departed(int agent) const {
    return std::binary_search(departed.begin(), departed.end(), agent);
}

long MessageProcess::rounds() const {
    long sum = 0;
    for (const Phase& phase : phases) sum += phase.rounds;
    return sum;
}

std::vector<long> MessageProcess::training_rounds() const { return process_rounds(*this).training; }

const NoisePlan& MessageProcess::plan_of(const Phase& phase) const {
    return phase.plan != nullptr ? *phase.plan : *plan;
}

const GossipPolynomial& MessageProcess::gossip_of(const Phase& phase) const {
    return phase.gossip ? *phase.gossip : gossip;
}

}  // namespace sotto
