#pragma once

#include "sotto/core/numbers.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

struct LocalData;

/// What the records of a task have as targets. For the experimenter, as losses are: computed from
/// raw data, no private output.
struct TargetFacts {
    /// Part of all test records that have the most frequent class; not a number for values.
    double constant_accuracy = not_a_number;
    /// Mean test loss of the best prediction that is the same for every record: the entropy of the
    /// classes' parts [nats], or the variance of the values.
    double constant_loss = not_a_number;
    double test_records = 0;    ///< of all agents
    long one_class_agents = 0;  ///< whose training records are all of one class
};

/// Of all agents. COLLECTIVE. Cost: a pass over labels, and one sum of as many numbers an agent as
/// there are classes. @throws NetworkError, the same on every process.
[[nodiscard]] TargetFacts target_facts(Network& network, const LocalData& data);

}  // namespace sotto
