#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/trainer.hpp"
#include "config/config.hpp"
#include "planning/build_topography.hpp"
#include "planning/plan_report.hpp"
#include "planning/planning.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/ledger.hpp"
#include "training/manifest.hpp"

namespace sotto {

/// Time of a round over a network that there is not yet (--network).
struct NetworkEstimate {
    double latency_seconds = 0, bits_per_second = 0;
    int hosts = 0, ranks = 0;
    // Of a round.
    double compute = 0;   ///< measured here: gradients and noise, on the host with most agents
    double latency = 0;   ///< counted (predict_exchange), of all its exchanges
    double transfer = 0;  ///< the same
    std::string busiest_host;
    double busiest_bytes = 0;  ///< through its link
    [[nodiscard]] double seconds_per_round() const { return compute + latency + transfer; }
};

/// Memory and time a run will need, before it starts.
struct RunEstimate {
    bool past_noise_again = false;  ///< noise of earlier rounds is drawn again instead of kept
    double memory_mib = 0;          ///< vectors of one process, beside program and data
    double seconds_per_round =
        0;  ///< measured: gradients and noise with throw-away keys, empty messages
    std::optional<NetworkEstimate> network;
};

/// How a run was resumed.
struct ResumedRun {
    long round = 0;     ///< completed before
    long repeated = 0;  ///< rounds done again, whose messages may have left and count
    std::uint32_t key_epoch = 0;
    bool same_keys = false;        ///< goes on bit for bit; otherwise with noise of new keys
    bool finished = false;         ///< the run ends there, without another round
    std::vector<int> agents_gone;  ///< so far
};

/// The agent's budget account (--budget-account), as far as this run has to do with it.
struct AccountUse {
    std::string path;
    double epsilon = 0;      ///< allowed
    double delta = 0;        ///< that epsilons are stated at
    double before = 0;       ///< epsilon spent by other runs
    double after = 0;        ///< epsilon spent with this run
    bool is_signed = false;  ///< by the agent's identity
};

/// What a model is to be compared with. For the experimenter, as losses are. Not a number where it
/// is not known.
struct Baselines {
    double constant_accuracy = not_a_number;  ///< see TargetFacts
    double constant_loss = not_a_number;
    double test_records = 0;
    double without_privacy_accuracy = not_a_number;  ///< see train_without_privacy
    double without_privacy_loss = not_a_number;
};

/// Test losses of the mean model in the evaluations of a start.
struct LossHistory {
    double first = not_a_number, lowest = infinity;
    long lowest_round = 0;
    void add(long round, double loss) {
        if (std::isnan(first)) first = loss;
        if (!(loss < lowest)) return;
        lowest = loss;
        lowest_round = round;
    }
};

/// Outcome of a training; filled on every process but for what only process 0 knows.
struct TrainResult {
    std::string mechanism;
    int agents = 0;
    int processes = 1;
    long rounds = 0;  ///< completed
    bool interrupted = false;
    bool dry_run = false;
    double epsilon = 0;              ///< spent, the largest of all agents; infinite without noise
    std::vector<double> epsilons{};  ///< spent, by the agent's number; in no summary
    std::vector<std::string> agent_files{};  ///< see LocalData::file_names; in no summary
    double mu = 0;
    double delta = 0;
    Evaluation evaluation;  ///< of what agents end up with
    Evaluation last;        ///< of their last models
    Evaluation averaged;    ///< of means of their models, before final gossip
    LossHistory losses;
    Baselines baselines;
    double clipped_share = not_a_number;  ///< mean over agents of the part of gradients shortened
    std::vector<std::string> warnings;    ///< on process 0: sentences, each with what to do
    std::size_t warnings_before = 0;      ///< so many of these were said before the first round
    PlanWords words;                      ///< on process 0; in no summary
    std::optional<double> clip_norm;      ///< C at the end, of the first agent here; where learnt
    int gossip_steps = 1;                 ///< K
    int final_gossip = 0;                 ///< L
    std::optional<RoundSeconds> phases;   ///< average over processes, where all tell
    double plan_seconds = 0, evaluate_seconds = 0, loop_seconds = 0, total_seconds = 0;
    std::int64_t bytes_sent = 0;            ///< by all agents
    std::optional<double> peak_memory_mib;  ///< largest process; nothing: see memory_to_tell
    std::vector<RankFigures> ranks;         ///< of every process
    std::string run_directory;
    std::string own_reports;  ///< of all agents, where this process is alone; in no summary
    RunEstimate estimate;     ///< dry run only
    std::optional<ResumedRun> resumed;
    std::optional<AccountUse> account;  ///< of this process, where it has one
};

/// What there is to tell before the first round.
struct TrainingStart {
    const TrainConfig& config;
    int processes = 1;
    const PlannedNoise& planned;
    const BuiltTopography& built;
    const std::string& task;     ///< what is learnt, from which data
    const std::string& report;   ///< all there is to say about plan and ledger
    const std::string& outline;  ///< the same in a few lines
    const std::vector<std::string>& warnings;
    std::string run_directory;              ///< none in a dry run
    const RunEstimate* estimate = nullptr;  ///< of a dry run
};

/// Told about a training as it goes; on process 0 only, unless said.
class TrainingListener {
  public:
    virtual ~TrainingListener() = default;
    /// On every process, before on_start.
    virtual void on_members(const Membership&) {}
    /// Everything is checked; the first round comes next (or nothing more in a dry run).
    virtual void on_start(const TrainingStart&) {}
    /// On every process: rounds come next, and between any two a request to stop is answered.
    virtual void on_rounds() {}
    /// @param ledger says what the rounds so far have revealed, at its cost.
    virtual void on_round(long /*completed*/, long /*rounds*/, const Ledger& /*ledger*/) {}
    virtual void on_evaluation(long /*completed*/, double /*epsilon*/, const Evaluation&) {}
    /// On every process: the training has ended, and what follows looks at what it left.
    virtual void on_analysis() {}
};

}  // namespace sotto
