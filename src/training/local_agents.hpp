#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "agent/trainer.hpp"
#include "config/config.hpp"
#include "net/network.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "training/run.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// The agents of this process, with how they choose their batches. LOCAL.
/// @param objectives one per local agent.  @param rows_are_rounds see LocalTask.
/// @param exposures of every place, whose batch sizes they are.
/// @throws ConfigError for batches, or cycles, larger than a shard.
[[nodiscard]] std::vector<LocalAgent> build_agents(
    const Run& run,
    std::vector<std::unique_ptr<Objective>> objectives,
    bool rows_are_rounds,
    const std::vector<Exposure>& exposures);

/// Records that a sampled batch exceeds with a probability of at most 2^-40.
[[nodiscard]] Eigen::Index padded_batch(Eigen::Index records, double probability);

/// The key of an agent's coins that a noise seed gives. Reproducible, hence INSECURE.
/// @param number of the agent in the run.
[[nodiscard]] SecretKey reproducible_coins(std::uint64_t noise_seed,
                                           std::uint32_t key_epoch,
                                           int number);

/// How an agent's records are dealt into parts, which take turns.
struct DealtRecords {
    long parts = 1;  ///< 1: all records are there in every round
    std::uint64_t seed = 0;
    int number = 0;  ///< of the agent in the run
};
[[nodiscard]] DealtRecords dealt_records(const Run& run, int number);

/// Batches of an agent whose records take part by coins of this key (SecretCoins).
[[nodiscard]] BatchSampler sampled_batches(Eigen::Index records,
                                           double probability,
                                           SecretKey key,
                                           const DealtRecords& dealt = {});

/// Batches of an agent that takes part in a round by a coin of this key: those of `batches`, or
/// none at all. @param local_steps batches that a round has.
[[nodiscard]] BatchSampler batches_of_client(
    Eigen::Index records, BatchSampler batches, double probability, SecretKey key, int local_steps);

/// What coins of this key, of this probability, leave of an agent's data: a part of its records, or
/// all or nothing. @param number of the agent in the run.
[[nodiscard]] BatchSampler drawn_batches(const Run& run,
                                         int number,
                                         Eigen::Index records,
                                         Eigen::Index batch_size,
                                         double probability,
                                         SecretKey key);

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

/// Options that decide what processes exchange, and how, must be the same everywhere, or ranks
/// would wait for each other or read each other's bytes wrongly. COLLECTIVE. @throws NetworkError
/// naming the first that differs, the same on every process.
void verify_same_options(Network& network, const TrainConfig& config);

/// What the ledger says about how this run carries messages and what it writes down.
/// @param optimality_gap whether evaluation sends exact derivatives.
[[nodiscard]] std::vector<std::string> transport_statements(const TrainConfig& config,
                                                            const Network& network,
                                                            const NoisePlan& plan,
                                                            bool optimality_gap);

}  // namespace sotto
