#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/agent/recording/recorded_wire.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/trust/key_ring.hpp"
#include "training/run.hpp"

namespace sotto {

/// The recordings of this process that a configuration asks for.
class Recorders {
  public:
    /// Of nothing.
    Recorders() = default;
    /// Makes their files. LOCAL.
    /// @param rings of the local agents.  @param dimension of the models.
    /// @throws ConfigError if a folder or file cannot be made.
    Recorders(const Run& run,
              std::span<const KeyRing> rings,
              const std::filesystem::path& folder,
              Eigen::Index dimension);

    /// Records the rounds of this trainer, as long as both live.
    void observe(Trainer& trainer) const;
    /// Ends the files: only then are they whole.
    void finish() const;

  private:
    std::unique_ptr<ViewRecorder> views_;
    std::unique_ptr<WireRecorder> wire_;
};

}  // namespace sotto
