#pragma once

// Whether a TorchScript module treats every record by itself; part of sotto_torch.so only.

#include <Eigen/Core>

#include "learn/torch/torch_module.hpp"

namespace sotto {

/// Refuses what can be seen in the module's code that would let a record change what is computed
/// for others, or make a run impossible to repeat: batch normalisation in training mode, random
/// numbers (dropout in training mode), and attributes that forward or loss change.
/// @throws ConfigError with the remedy.
void require_records_apart(const TorchModule& module);

/// Runs the module at its own parameters on a few made-up records (no one's data, the same on every
/// machine): losses and gradients of a record alone must be those beside others, and the same bits
/// a second time. Cost: a few gradients.
/// @param classes 0 where records have values.
/// @throws ConfigError with what is wrong: outputs that do not fit the classes, not one loss a
/// record, no gradient, or records that change each other's.
void require_same_alone_and_together(TorchModule& module,
                                     Eigen::Index features,
                                     Eigen::Index classes);

}  // namespace sotto
