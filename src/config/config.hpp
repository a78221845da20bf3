#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/robust_rule.hpp"
#include "agent/round_faults.hpp"
#include "agent/trainer.hpp"
#include "learn/standardisation.hpp"
#include "learn/table_shape.hpp"
#include "net/host_networks.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// How many records an agent uses in a round.
struct BatchSize {
    std::optional<long> number = 128;  ///< the same for every agent; none: a share
    double share = 1;                  ///< of the agent's records; 1: all of them

    BatchSize() = default;
    BatchSize(long records) : number(records) {}         // NOLINT(google-explicit-constructor)
    BatchSize(std::nullopt_t) : number(std::nullopt) {}  // NOLINT(google-explicit-constructor)
    /// At least one. None for a share of an unknown number of records (0).
    [[nodiscard]] std::optional<Eigen::Index> of(Eigen::Index records) const;
    bool operator==(const BatchSize&) const = default;
};
/// Parses a whole number from 1, a share above 0 and below 1, or "all".
/// @throws ConfigError naming the option, the text and what is allowed.
[[nodiscard]] BatchSize parse_batch_size(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const BatchSize& size);

/// The graph and the mixing of models on it.
struct GraphConfig {
    std::optional<std::string> file;  ///< edge list; overrides the topology
    TopologySpec topology;
    std::optional<Graph> agreed;        ///< exchanged by agents (agree_on_graph); overrides both
    std::string mixing = "metropolis";  ///< rule or file
    std::string mixing_schedule = "fixed";  ///< "fixed", "random", "one-peer", or a .npy file
};
/// Values of GraphConfig::mixing that suit any graph: the rules, and "optimised".
[[nodiscard]] std::vector<std::string> mixing_rule_names();
[[nodiscard]] bool is_mixing_rule(const std::string& name);
/// Whether design_mixing makes weights for the noise.
[[nodiscard]] bool is_optimised(const GraphConfig& config);

/// How large the noise of every round is.
struct ScheduledNoise {
    /// Standard deviation of the noise of every round of the run, up to a common factor; empty: all
    /// rounds are alike.
    std::vector<double> relative{};
    /// Variance that steps leave in the mean of the final models, as a share of that with equal
    /// noise for the same mu.
    double left = 1;
};

/// The noise and its budget.
struct PlanConfig {
    std::string mechanism = "pairs";
    Utility utility;
    double epsilon = 10;
    double delta = 1e-5;
    Calibration calibration = Calibration::exact;
    Adjacency adjacency = Adjacency::agent;
    /// Standard deviation S of noise instead of a budget: [R^-1]_uu = 1/S^2 in every round, so that
    /// S hides an agent from an observer of all messages of that round.
    std::optional<double> noise_std;
    double clip_norm = 0.1;   ///< C, or the start of a learned C
    bool learn_clip = false;  ///< --clip-norm learnt
    long rounds = 1000;
    int local_steps = 1;                       ///< E, of an agent in a round
    std::optional<double> client_probability;  ///< q, of an agent in a round; none: all take part
    BatchSize batch_size;                      ///< B, of an agent in a round
    GossipRule gossip = GossipRule::plain;     ///< weights of the exchanges of a round
    int gossip_steps = 1;                      ///< K
    std::optional<double> max_bytes;           ///< of all agents' messages, for the choice of K
    Correction correction = Correction::none;  ///< for data that differ between agents
    double momentum = 0;                       ///< B, on noisy gradients
    long precondition_every = 0;               ///< R of Preconditioning, on noisy gradients
    ModelAverage average;                      ///< final models of agents
    std::optional<int> final_gossip = 0;       ///< L; none: final_gossip_steps
    std::string spatial_mechanism = "pairs";   ///< of space-time
    TemporalShape temporal;                    ///< of mafalda and space-time
    StepSchedule steps;                        ///< affects plans if rounds differ
    std::string noise_schedule = "constant";   ///< or "auto", or a file
    ScheduledNoise round_noise{};              ///< what follows from it, set by settle() (planning)
    Participation participation;
    /// q with Poisson sampling if there are no data; with data it is B / N_u.
    std::optional<double> sampling_probability;
    double variance_cap = 1e4;
    /// Share of mu^2 that paid rounds before the training spend (survey.hpp).
    double survey_share = 0;
    std::optional<double> plan_gap;     ///< DesignInput::gap; empty: default_gap
    std::string seed_groups;            ///< see make_seed_groups; empty: default_seed_groups
    std::optional<int> coalition_size;  ///< q; none: the mechanism's (or the plan file's) own
    /// K: the budget holds for persons with records at up to so many agents (person_loss.hpp).
    int unit_agents = 1;
    bool common_variance = false;
    std::optional<std::string> budgets_file;     ///< epsilon of every agent
    std::optional<std::string> covariance_file;  ///< for mechanisms that take one
    std::optional<std::string> plan_file;        ///< use this plan instead of solving
};

/// Clip and step size with an adjacency of records where neither is given nor chosen by a rule: the
/// norm of a record's gradient is about 1 when learning begins.
inline constexpr double clip_of_records = 1, step_of_records = 0.5;

/// Values that the user leaves open; settle() (planning) chooses them.
struct OpenChoices {
    bool temporal = true;       ///< kind and band of the temporal factor: --temporal auto
    bool cycle = false;         ///< b: --participation cyclic-poisson:auto
    bool gossip_steps = false;  ///< K: --gossip-steps auto
    bool final_gossip = false;  ///< L: --final-gossip not given
    bool correction = false;    ///< --correction auto
    /// --gossip and --gossip-steps are not given: settle_exchanges() chooses them for the tuning
    /// rule, and without it they are plain and 1.
    bool usual_gossip = false, usual_gossip_steps = false;
    // --rounds, --batch-size, --clip-norm and --step-size auto; choose_rounds() and choose_step()
    // (planning/tuning.hpp) choose them.
    bool rounds = false, batch_size = false, clip_norm = false, step_size = false;

    /// Whether something is left to the tuning rule.
    [[nodiscard]] bool tuned() const { return rounds || batch_size || measured(); }
    /// Whether it depends on the data.
    [[nodiscard]] bool measured() const { return clip_norm || step_size; }
};

/// A plan as the user asked for it. Open values have placeholders.
struct AskedPlan : PlanConfig {
    AskedPlan() = default;
    /// Leaves nothing open.
    AskedPlan(PlanConfig values)  // NOLINT(google-explicit-constructor)
        : PlanConfig(std::move(values)), open{.temporal = false} {}
    OpenChoices open;
    /// --tune; none: where it is possible.
    std::optional<bool> tune;
    /// --step-schedule is given, and the tuning rule chooses none.
    bool schedule_given = false;
};

/// A plan with nothing open, from which noise is planned and counted. settle() makes one of an
/// AskedPlan, which does not convert by itself.
struct SettledPlan : PlanConfig {
    SettledPlan() = default;
    SettledPlan(PlanConfig values)  // NOLINT(google-explicit-constructor)
        : PlanConfig(std::move(values)) {}
    SettledPlan(const AskedPlan&) = delete;
};

/// How to scale columns of numbers of a table.
enum class Standardise {
    none,             ///< not at all
    public_moments,   ///< by mean and deviation of training data, which no guarantee counts
    private_moments,  ///< the same of values cut to bounds, learnt in a round that is paid for
};
inline constexpr NameTable<Standardise, 3> standardise_names{
    {{{Standardise::none, "none"},
      {Standardise::public_moments, "public"},
      {Standardise::private_moments, "private"}}}};

/// The task and its data.
struct TaskConfig {
    std::string task = "logistic";
    std::string data = "synthetic";  ///< "synthetic", or files separated by commas; %r is the agent
    std::optional<std::string> test_data;  ///< files, likewise
    double test_fraction = 0.2;
    std::optional<PartitionSpec> partition;  ///< none: dirichlet:10, or iid for values to predict
    TableOptions table{};                    ///< meaning of table columns
    /// None: not chosen, which needs bounds if a table has columns of numbers.
    std::optional<Standardise> standardise{};
    /// R: records' features are shortened so that a record with its constant feature is no longer.
    std::optional<double> feature_norm{};
    std::optional<long> hidden;  ///< mlp: units of the hidden layer; none: 128, for values 64
    std::uint64_t seed = 1;      ///< data, partition, batches and initialisation only
    /// In a resumed run: labels and features as they were at its beginning, whichever agents
    /// remain. Not set by options.
    LabelSet known_labels{};
    long known_features = 0;
    std::optional<TableShape> known_table{};
    /// The scaling that Standardise::private_moments has learnt, of all agents. Not set by options.
    std::optional<Standardisation> known_scaling{};
    /// Whether the scaling is still to be learnt, in a round that is paid for (LocalTask::moments).
    [[nodiscard]] bool learns_scaling() const {
        return standardise == Standardise::private_moments && !known_scaling;
    }
};

/// Which process builds graph, mixing matrix and plan.
enum class Bootstrap {
    central,     ///< process 0; every agent checks that the plan protects it
    distributed  ///< every process; all must get the same result
};
inline constexpr NameTable<Bootstrap, 2> bootstraps{
    {{{Bootstrap::central, "central"}, {Bootstrap::distributed, "distributed"}}}};

/// Files that authenticate the agents.
struct TrustConfig {
    std::string roster;
    std::string identity;  ///< %r is the agent
};

/// A run to resume.
struct ResumeConfig {
    std::string directory;
    std::vector<int> without;    ///< agents that leave; ascending
    std::vector<int> joining{};  ///< agents that join; ascending
    bool finish = false;         ///< ends at its checkpoint, without another round
    /// Names of the options that were given to this process besides the directory. All others are
    /// those of rank 0's config.ini.
    std::vector<std::string> given{};
};

/// How a clip is learnt (QuantileClip).
struct LearntClipConfig {
    double quantile = 0.9;
    double share = 0.05;
    std::optional<double> rate;  ///< of log C; none: clip_rate_for
};

/// An imagined network between hosts, for a dry run.
struct NetworkSpec {
    double latency_seconds = 0;  ///< HostNetwork: half of what `ping` shows
    double bits_per_second = 0;
    std::optional<int> hosts;  ///< none: the real hosts; in one process each rank has its own
    std::optional<int> ranks;  ///< none: those of the job; in one process one per agent
    [[nodiscard]] HostNetwork between_hosts() const { return {latency_seconds, bits_per_second}; }
    [[nodiscard]] bool operator==(const NetworkSpec&) const = default;
};

struct TrainConfig {
    GraphConfig graph;
    AskedPlan plan;
    TaskConfig task;
    LearntClipConfig clip;
    double l2 = 0;
    long evaluate_every = 0;  ///< rounds; 0: fifty times per run
    /// What an evaluation reads of test set and training data; none: usual_records (training.hpp).
    std::optional<EvaluatedRecords> evaluated_records;
    /// Whether to compare with the lowest possible loss, for which every agent sends exact
    /// derivatives of its loss to rank 0. None: yes if ranks read the same data or all agents are
    /// in one process.
    std::optional<bool> optimality_gap;
    bool tensorboard = false;  ///< event files in the run directory, beside metrics.csv
    bool baseline = false;     ///< also trains without privacy, if one process hosts all agents
    bool verbose = false;      ///< shows everything on plan and training
    bool dry_run = false;
    std::optional<NetworkSpec> network;  ///< for which a dry run predicts rounds
    std::optional<std::uint64_t> noise_seed;
    Bootstrap bootstrap = Bootstrap::central;
    /// File whose appearance makes an agent leave during the run; %r is its number.
    std::optional<std::string> leave_file;
    /// Agents that wait at first; ascending.
    std::vector<int> spares;
    /// File whose appearance at agent 0's process makes a spare join; %r is its number.
    std::optional<std::string> join_file;
    std::optional<std::string> neighbours;  ///< file with an agent's neighbours; %r is its number
    std::optional<TrustConfig> trust;       ///< none: peers are unauthenticated
    bool link_encryption = true;            ///< over MPI; one process has no wire
    /// Of messages between agents; none: the shortest that is possible.
    std::optional<MessagePrecision> precision = MessagePrecision::float64;
    bool usual_precision = false;  ///< --precision is not given: none, with the tuning rule
    /// Seconds after which a round goes on without messages that have not come; 0: a multiple of
    /// what rounds take. None: all wait for all.
    std::optional<double> round_deadline;
    long max_lag = 0;         ///< rounds that agents may be apart, with round_deadline
    RoundFaults faults;       ///< for experiments
    RobustRule robust;        ///< how messages of neighbours that may lie are mixed
    bool secure_sum = false;  ///< agents learn only weighted sums of messages
    int mask_partners = 16;   ///< on each side, in secure sums (mask_partners() in trust/)
    bool pad_rounds = false;  ///< the time of sampled batches does not depend on their size
    std::string views;        ///< additional views of the ledger, separated by ';'
    /// Observers against whom --epsilon holds (ProtectedViews): others than the eavesdropper only
    /// where inputs are fixed in advance.
    std::string protect_against = "eavesdropper";
    std::vector<int> record_views;  ///< agents whose views are recorded in the run directory
    bool record_wire = false;       ///< also records what every agent sends
    double past_noise_mib = 2048;   ///< limit per process if rounds are correlated
    std::optional<std::string> run_directory;
    long checkpoint_every = 0;  ///< rounds; 0: only when the run stops
    std::optional<ResumeConfig> resume;
    double stall_abort_seconds = 300;  ///< in the rounds; ten times as long in the bootstrap
    int asked_threads = 0;             ///< per process; 0: decided at the start
    int threads = 1;                   ///< resulting number here
    /// Account from which a run is deducted before it begins (BudgetAccountFile); %r is the agent.
    std::optional<std::string> budget_account;

    /// Whether messages may be missing.
    [[nodiscard]] bool misses_messages() const { return round_deadline || faults.silent > 0; }
    /// Whether messages may be other than honest agents'.
    [[nodiscard]] bool expects_lies() const { return robust.on() || !faults.lies.empty(); }
    /// Whether no fixed matrix mixes messages, so that recordings say what each of them changes
    /// (WireContent::steps), and audits need a view of all messages.
    [[nodiscard]] bool records_steps() const { return misses_messages() || expects_lies(); }
    /// Whether figures of the rounds alone are requested: what secure sums hide, or partial views.
    [[nodiscard]] bool asks_about_rounds_alone() const {
        return secure_sum || !views.empty() || task.feature_norm;
    }
};

}  // namespace sotto
