#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/agent/trainer.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/privacy/budget.hpp"
#include "training/run.hpp"

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

}  // namespace sotto
