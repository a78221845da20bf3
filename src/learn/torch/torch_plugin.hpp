#pragma once

// What sotto and its plugin for TorchScript (sotto_torch.so) say to each other; not installed. The
// program includes this header only: nothing of libtorch is needed to build it.

#include <Eigen/Core>
#include <memory>
#include <string>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Changes whenever one of the two can no longer use the other: with Objective, Dataset, and what
/// is here.
inline constexpr int torch_plugin_version = 2;

/// A model of the user's that makes objectives. Used by one thread at a time.
class ModelSource {
  public:
    virtual ~ModelSource() = default;
    /// One agent's objective. Objectives of one source may be used by several threads at once.
    /// @param classes of the data, 0 where they have values.  @param test may be null.
    /// @throws ConfigError if the model does not fit the data, or lets one record change what is
    /// computed for another; DataError if the shard is empty or a label is no class.
    [[nodiscard]] virtual std::unique_ptr<Objective> make(
        Eigen::Index classes, Dataset shard, std::shared_ptr<const Dataset> test) const = 0;
};

/// Names of the plugin's symbols.
inline constexpr const char* torch_plugin_version_symbol = "sotto_torch_plugin_version";
inline constexpr const char* torch_plugin_factory_symbol = "sotto_torch_model";
/// @param path for messages.  @param bytes of the file.  @throws ConfigError if they are no
/// TorchScript module that can be trained.
using TorchModelFactory = ModelSource*(const std::string& path, const std::string& bytes);

}  // namespace sotto

extern "C" {
extern const int sotto_torch_plugin_version;
sotto::ModelSource* sotto_torch_model(const std::string& path, const std::string& bytes);
}
