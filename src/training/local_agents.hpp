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

/// Builds the agents of this process with their batch samplers. LOCAL.
/// @param objectives one per local agent.  @param rows_are_rounds see LocalTask.
/// @param exposures of every place, with the batch sizes.
/// @throws ConfigError for batches or cycles larger than a shard.
[[nodiscard]] std::vector<LocalAgent> build_agents(
    const Run& run,
    std::vector<std::unique_ptr<Objective>> objectives,
    bool rows_are_rounds,
    const std::vector<Exposure>& exposures);

/// The batch size that a sampled batch exceeds with probability at most 2^-40.
[[nodiscard]] Eigen::Index padded_batch(Eigen::Index records, double probability);

/// Derives the key of an agent's coins from a noise seed. Reproducible, hence INSECURE.
/// @param number of the agent in the run.
[[nodiscard]] SecretKey reproducible_coins(std::uint64_t noise_seed,
                                           std::uint32_t key_epoch,
                                           int number);

/// How an agent's records are split into parts that take turns.
struct DealtRecords {
    long parts = 1;  ///< 1: all records are in every round
    std::uint64_t seed = 0;
    int number = 0;  ///< of the agent in the run
};
[[nodiscard]] DealtRecords dealt_records(const Run& run, int number);

/// Batches of an agent that samples its records with coins of this key (SecretCoins).
[[nodiscard]] BatchSampler sampled_batches(Eigen::Index records,
                                           double probability,
                                           SecretKey key,
                                           const DealtRecords& dealt = {});

/// Batches of an agent that places its records with this key (SecretPlaces).
/// @param first_round of the epochs.
[[nodiscard]] BatchSampler allocated_batches(Eigen::Index records,
                                             long rounds_an_epoch,
                                             SecretKey key,
                                             long first_round);

/// Batches of an agent that is itself sampled each round with a coin of this key: those of
/// `batches`, or none. @param local_steps batches per round.
[[nodiscard]] BatchSampler batches_of_client(
    Eigen::Index records, BatchSampler batches, double probability, SecretKey key, int local_steps);

/// Batches that coins of this key select with this probability: some of an agent's records, or all
/// or none of them. @param number of the agent in the run.
[[nodiscard]] BatchSampler drawn_batches(const Run& run,
                                         int number,
                                         Eigen::Index records,
                                         Eigen::Index batch_size,
                                         double probability,
                                         SecretKey key);

/// Rounds to record: of the training, or of a survey before it.
struct RecordedRounds {
    const NoisePlan& plan;
    std::uint32_t key_epoch = 0;
    int exchanges = 1;           ///< of a round
    Eigen::Index dimension = 0;  ///< of messages
};
[[nodiscard]] RecordedRounds recorded_rounds(const Run& run, Eigen::Index dimension);

/// The recordings that a configuration asks of this process.
class Recorders {
  public:
    /// Records nothing.
    Recorders() = default;
    /// Creates the files. LOCAL.
    /// @param rings of the local agents.
    /// @throws ConfigError if a folder or file cannot be created.
    Recorders(const Run& run,
              std::span<const KeyRing> rings,
              const std::filesystem::path& folder,
              const RecordedRounds& rounds);

    /// Records the rounds of this trainer. Both must stay alive.
    void observe(Trainer& trainer) const;
    /// Completes the files.
    void finish() const;

  private:
    std::unique_ptr<ViewRecorder> views_;
    std::unique_ptr<WireRecorder> wire_;
};

/// Compares the options that decide what processes exchange, and how. If they differed, ranks would
/// wait for each other or misread each other's messages. COLLECTIVE. @throws NetworkError naming
/// the first that differs, the same on every process.
void verify_same_options(Control& network, const TrainConfig& config);

/// @throws ConfigError if messages of the plan cannot be sent, or recorded, as configured.
void require_possible_exchange(const TrainConfig& config, const NoisePlan& plan);

/// Statements for the ledger on how this run transports messages and what it writes to disk.
/// @param optimality_gap whether evaluation sends exact derivatives.
[[nodiscard]] std::vector<std::string> transport_statements(const TrainConfig& config,
                                                            const Network& network,
                                                            const NoisePlan& plan,
                                                            bool optimality_gap);

}  // namespace sotto
