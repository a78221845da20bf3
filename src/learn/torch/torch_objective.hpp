#pragma once

// The objective of one agent whose model is a TorchScript module; part of sotto_torch.so only.

#include <memory>

#include "learn/torch/torch_module.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/record_objective.hpp"

namespace sotto {

/// Losses of a module's outputs on records. With a record adjacency every record goes through the
/// module alone, forward and backward, in a batch of one: what is computed for it cannot depend on
/// others, and RecordObjective clips and rounds it. Mean gradients (adjacency agent) and losses go
/// through in batches. A record for which the module fails has a gradient and a loss that are not
/// finite.
/// @param module which is this agent's own (TorchModule::copy), checked by module_checks.hpp.
/// @param test may be null.  @throws DataError if the shard is empty or a label is no class;
/// ConfigError if the features do not have the module's input_shape.
[[nodiscard]] std::unique_ptr<Objective> make_torch_objective(TorchModule module,
                                                              Dataset shard,
                                                              std::shared_ptr<const Dataset> test,
                                                              Eigen::Index classes);

}  // namespace sotto
