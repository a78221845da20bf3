#pragma once

// Checkpoints of a training under way; not installed.

#include <optional>
#include <vector>

#include "run/checkpoint_store.hpp"
#include "run/config.hpp"
#include "run/run_directory.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/trust/handshake.hpp"

namespace sotto {

/// When checkpoints are made, and what is in them.
class RunCheckpoints {
  public:
    /// What stays the same in all checkpoints of a phase.
    struct Setup {
        Digest run{};
        int phase = 0;
        long first_round = 0;
        std::uint32_t key_epoch = 0;
        bool resumed = false;
        bool possible = true;  ///< the run can be taken up by its options alone
    };
    /// @param rings whose seeds are kept for agents with an identity.
    RunCheckpoints(const TrainConfig& config,
                   Network& network,
                   const Trainer& trainer,
                   const Ledger& ledger,
                   const NoisePlan& plan,
                   const std::vector<KeyRing>& rings,
                   const std::optional<Credentials>& credentials,
                   const RunDirectory& directory,
                   const Setup& setup);

    [[nodiscard]] bool due(long round) const {
        return config_.checkpoint_every > 0 && round % config_.checkpoint_every == 0;
    }
    /// Before anything of the round is sent.
    void before_round(long round);
    /// COLLECTIVE.
    void seal(long round, bool clean, const RunTotals& totals);

  private:
    void start_mark();
    const TrainConfig& config_;
    Network& network_;
    const Trainer& trainer_;
    const Ledger& ledger_;
    Digest plan_hash_;
    const std::vector<KeyRing>& rings_;
    const std::optional<Credentials>& credentials_;
    const RunDirectory& directory_;
    Setup setup_;
    std::optional<SentMark> mark_;
};

}  // namespace sotto
