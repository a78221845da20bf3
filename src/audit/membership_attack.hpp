#pragma once

#include "audit/attack.hpp"

namespace sotto {

/// Which records did agents train on? A training of config.train.task, attacked: the members know
/// models (KnownModels), and a record whose loss under an agent's model is small is taken for one
/// of the agent's. Cases are the agent's training records and records held out, as many of every
/// class. Classification and regression tasks of sotto only.
[[nodiscard]] AttackRecord membership_attack();

}  // namespace sotto
