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
#include "training/robust_run.hpp"

namespace sotto {

/// Predicted time of a round over an imagined network (--network).
struct NetworkEstimate {
    double latency_seconds = 0, bits_per_second = 0;
    int hosts = 0, ranks = 0;
    // Per round.
    double compute = 0;   ///< measured here: gradients and noise, on the host with most agents
    double latency = 0;   ///< of all exchanges, counted (predict_exchange)
    double transfer = 0;  ///< likewise
    std::string busiest_host;
    double busiest_bytes = 0;  ///< through its link
    [[nodiscard]] double seconds_per_round() const { return compute + latency + transfer; }
};

/// Predicted memory and time of a run.
struct RunEstimate {
    bool past_noise_again = false;  ///< noise of earlier rounds is drawn again instead of kept
    double memory_mib = 0;          ///< vectors of one process, without program and data
    double seconds_per_round =
        0;  ///< measured: gradients and noise with throw-away keys, empty messages
    std::optional<NetworkEstimate> network;
    double bytes = 0;  ///< sent by all agents in rounds and final gossip
};

/// How a run was resumed.
struct ResumedRun {
    long round = 0;     ///< rounds completed before
    long repeated = 0;  ///< repeated rounds, whose messages may have been sent and count
    std::uint32_t key_epoch = 0;
    bool same_keys = false;        ///< continues bit for bit; otherwise with noise of new keys
    bool finished = false;         ///< the run ends here, without another round
    std::vector<int> agents_gone;  ///< so far
};

/// How this run uses the agent's budget account (--budget-account).
struct AccountUse {
    std::string path;
    double epsilon = 0;      ///< allowed
    double delta = 0;        ///< at which epsilons are stated
    double before = 0;       ///< epsilon spent by other runs
    double after = 0;        ///< epsilon spent with this run
    bool is_signed = false;  ///< by the agent's identity
};

/// What the tuning rule chose (planning/tuning.hpp).
struct TunedRun {
    double norm = not_a_number;  ///< g; not a number if it was not measured, or not yet
    double clip_norm = 0, step_size = 0;
    long rounds = 0;
    BatchSize batch;
    double mu_share = 0;  ///< of mu^2 that the measurement spent
};

/// Baselines of a model's results, for the experimenter, as losses are. Not a number if unknown.
struct Baselines {
    double constant_accuracy = not_a_number;  ///< see TargetFacts
    double constant_loss = not_a_number;
    double test_records = 0;
    double without_privacy_accuracy = not_a_number;  ///< see train_without_privacy
    double without_privacy_loss = not_a_number;
};

/// Test losses of the mean model in the evaluations of one start.
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

/// Result of a training; filled on every process except for what only process 0 knows.
struct TrainResult {
    std::string mechanism;
    int agents = 0;
    int processes = 1;
    long rounds = 0;          ///< completed
    long planned_rounds = 0;  ///< of the whole run
    bool interrupted = false;
    bool dry_run = false;
    double epsilon = 0;              ///< spent, largest of all agents; infinite without noise
    std::vector<double> epsilons{};  ///< spent, by the agent's number; in no summary
    std::vector<std::string> agent_files{};  ///< see LocalData::file_names; in no summary
    double mu = 0;
    double delta = 0;
    Evaluation evaluation;  ///< of the final models
    Evaluation last;        ///< of the models after the last round
    Evaluation averaged;    ///< of the averaged models, before final gossip
    LossHistory losses;
    Baselines baselines;
    double clipped_share = not_a_number;  ///< mean over agents of the share of gradients clipped
    std::vector<std::string> warnings;    ///< on process 0: sentences, each with a remedy
    std::size_t warnings_before = 0;      ///< of these: reported before the first round
    PlanWords words;                      ///< on process 0; in no summary
    std::optional<double> clip_norm;      ///< final C of the first local agent; if learned
    std::optional<TunedRun> tuned;        ///< of this start
    int gossip_steps = 1;                 ///< K
    int final_gossip = 0;                 ///< L
    std::optional<RoundSeconds> phases;   ///< average over processes, if all share it
    double plan_seconds = 0, evaluate_seconds = 0, loop_seconds = 0, total_seconds = 0;
    std::int64_t bytes_sent = 0;            ///< by all agents
    std::optional<double> peak_memory_mib;  ///< largest process; none: see memory_to_tell
    std::vector<RankFigures> ranks;         ///< of every process
    std::string run_directory;
    std::string own_reports;                  ///< of all agents, if in this process; in no summary
    std::vector<SuspectedAgent> suspected{};  ///< with --robust
    RunEstimate estimate;                     ///< only in a dry run
    std::optional<ResumedRun> resumed;
    std::optional<AccountUse> account;  ///< of this process, if any
};

/// What the user sees before the first round.
struct TrainingStart {
    const TrainConfig& config;
    int processes = 1;
    const PlannedNoise& planned;
    const BuiltTopography& built;
    const std::string& task;     ///< what is learned, from which data
    const std::string& report;   ///< everything on plan and ledger
    const std::string& outline;  ///< the same in a few lines
    const std::vector<std::string>& warnings;
    std::string run_directory;              ///< none in a dry run
    const RunEstimate* estimate = nullptr;  ///< of a dry run
};

/// Receives the events of a training, on process 0 only unless stated otherwise.
class TrainingListener {
  public:
    virtual ~TrainingListener() = default;
    /// On every process, before on_start.
    virtual void on_members(const Membership&) {}
    /// Everything is checked; the first round follows, or in a dry run nothing more.
    virtual void on_start(const TrainingStart&) {}
    /// On every process: rounds follow, and a stop request is answered between any two.
    virtual void on_rounds() {}
    /// @param ledger evaluates the loss of the rounds so far when asked, at its cost.
    virtual void on_round(long /*completed*/, long /*rounds*/, const Ledger& /*ledger*/) {}
    virtual void on_evaluation(long /*completed*/, double /*epsilon*/, const Evaluation&) {}
    /// On every process: training has ended, and its results are analysed.
    virtual void on_analysis() {}
    /// On every process: a step of the preparation begins, which of many agents or records takes
    /// long: "reading the data".
    virtual void on_preparing(std::string_view /*step*/) {}
};

}  // namespace sotto
