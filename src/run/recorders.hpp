#pragma once

#include <optional>
#include <span>

#include "run/config.hpp"
#include "run/run_directory.hpp"
#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/agent/recording/recorded_wire.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// The recordings of this process that the configuration asks for.
class Recorders {
  public:
    /// Makes their files. LOCAL.
    void open(const TrainConfig& config,
              const Network& network,
              const Graph& graph,
              const NoisePlan& plan,
              std::span<const KeyRing> rings,
              const std::filesystem::path& folder,
              Eigen::Index dimension,
              std::uint32_t key_epoch);
    void observe(Trainer& trainer);
    void finish();

  private:
    std::optional<ViewRecorder> views_;
    std::optional<WireRecorder> wire_;
};

}  // namespace sotto
