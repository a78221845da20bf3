#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/trainer.hpp"
#include "learn/table_shape.hpp"
#include "net/host_networks.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// How many of its records an agent uses in a round.
struct BatchSize {
    std::optional<long> number = 128;  ///< the same of every agent; none: a share
    double share = 1;                  ///< of the agent's records; 1: all of them

    BatchSize() = default;
    BatchSize(long records) : number(records) {}         // NOLINT(google-explicit-constructor)
    BatchSize(std::nullopt_t) : number(std::nullopt) {}  // NOLINT(google-explicit-constructor)
    /// At least one. Nothing where it is a share of records whose number is not known (0).
    [[nodiscard]] std::optional<Eigen::Index> of(Eigen::Index records) const;
    bool operator==(const BatchSize&) const = default;
};
/// A whole number from 1, a share above 0 and below 1, or "all".
/// @throws ConfigError naming the option, the text and what is allowed.
[[nodiscard]] BatchSize parse_batch_size(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const BatchSize& size);

/// Which graph, and how models are mixed on it.
struct GraphConfig {
    std::optional<std::string> file;  ///< edge list; overrides the topology
    TopologySpec topology;
    std::optional<Graph> agreed;  ///< that agents told each other (agree_on_graph); overrides both
    std::string mixing = "metropolis";      ///< rule or file
    std::string mixing_schedule = "fixed";  ///< "fixed", "random", "one-peer", or a .npy file
};
/// Values of GraphConfig::mixing that hold for any graph: the rules, and "optimised".
[[nodiscard]] std::vector<std::string> mixing_rule_names();
[[nodiscard]] bool is_mixing_rule(const std::string& name);
/// Whether weights are made for the noise, by design_mixing.
[[nodiscard]] bool is_optimised(const GraphConfig& config);

/// Which noise, for which budget.
struct PlanConfig {
    std::string mechanism = "pairs";
    Utility utility;
    double epsilon = 10;
    double delta = 1e-5;
    Calibration calibration = Calibration::exact;
    Adjacency adjacency = Adjacency::agent;
    /// Noise of this standard deviation instead of a budget: [R^-1]_uu = 1/S^2 in every round, so
    /// that S hides an agent from somebody who sees all messages of that round.
    std::optional<double> noise_std;
    double clip_norm = 0.1;   ///< C, or where learning it starts
    bool learn_clip = false;  ///< --clip-norm auto
    long rounds = 1000;
    int local_steps = 1;                       ///< E, of an agent in a round
    std::optional<double> client_probability;  ///< q, of an agent in a round; none: all take part
    BatchSize batch_size;                      ///< B, of an agent in a round
    GossipRule gossip = GossipRule::plain;     ///< weights of the exchanges of a round
    int gossip_steps = 1;                      ///< K
    std::optional<double> max_bytes;           ///< of all agents' messages, where K is chosen
    double momentum = 0;                       ///< B, on noisy gradients
    ModelAverage average;                      ///< what agents end up with
    std::optional<int> final_gossip = 0;       ///< L; none: final_gossip_steps
    std::string spatial_mechanism = "pairs";   ///< of space-time
    TemporalShape temporal;                    ///< of mafalda and space-time
    StepSchedule steps;                        ///< plans depend on it where rounds are not alike
    Participation participation;
    /// q with Poisson sampling, where there are no data; with data it is B / N_u.
    std::optional<double> sampling_probability;
    double variance_cap = 1e4;
    std::optional<double> plan_gap;     ///< DesignInput::gap; empty: default_gap
    std::string seed_groups;            ///< see make_seed_groups; empty: default_seed_groups
    std::optional<int> coalition_size;  ///< q; none: the mechanism's (or the plan file's) own
    bool common_variance = false;
    std::optional<std::string> budgets_file;     ///< epsilon of every agent
    std::optional<std::string> covariance_file;  ///< of mechanisms that take one
    std::optional<std::string> plan_file;        ///< use this plan instead of solving
};

/// What a person leaves to the plan; settle() (planning) chooses it.
struct OpenChoices {
    bool temporal = true;       ///< kind and band of the temporal factor: --temporal auto
    bool cycle = false;         ///< b: --participation cyclic-poisson:auto
    bool gossip_steps = false;  ///< K: --gossip-steps auto
    bool final_gossip = false;  ///< L: nothing was said of it
};

/// A plan as a person asked for it. Values of what is open are placeholders.
struct AskedPlan : PlanConfig {
    AskedPlan() = default;
    /// With nothing open.
    AskedPlan(PlanConfig values)  // NOLINT(google-explicit-constructor)
        : PlanConfig(std::move(values)), open{.temporal = false} {}
    OpenChoices open;
};

/// A plan in which nothing is open: what noise is planned and counted for. An AskedPlan becomes one
/// by settle() only.
struct SettledPlan : PlanConfig {
    SettledPlan() = default;
    SettledPlan(PlanConfig values)  // NOLINT(google-explicit-constructor)
        : PlanConfig(std::move(values)) {}
    SettledPlan(const AskedPlan&) = delete;
};

/// How columns of numbers of a table are scaled where no bounds are given.
enum class Standardise {
    none,
    open_moments  ///< by mean and deviation of training data, which no guarantee counts
};
inline constexpr NameTable<Standardise, 2> standardise_names{
    {{{Standardise::none, "none"}, {Standardise::open_moments, "public"}}}};

/// What is learnt, and from which data.
struct TaskConfig {
    std::string task = "logistic";
    std::string data = "synthetic";  ///< "synthetic", or files separated by commas; %r is the agent
    std::optional<std::string> test_data;  ///< files, likewise
    double test_fraction = 0.2;
    std::optional<PartitionSpec> partition;  ///< none: dirichlet:10, or iid for values to predict
    TableOptions table{};                    ///< what columns of tables mean
    Standardise standardise = Standardise::open_moments;
    std::optional<long> hidden;  ///< mlp: units of the hidden layer; none: 128, for values 64
    std::uint64_t seed = 1;      ///< data, partition, batches and initialisation only
    /// Of a run that is resumed: labels and features as they were when it began, whoever is there
    /// now. No option says them.
    LabelSet known_labels{};
    long known_features = 0;
    std::optional<TableShape> known_table{};
};

/// Who builds graph, mixing matrix and plan.
enum class Bootstrap {
    central,     ///< process 0, for all; every agent checks that the plan protects it
    distributed  ///< every process for itself; all must come to the same
};
inline constexpr NameTable<Bootstrap, 2> bootstraps{
    {{{Bootstrap::central, "central"}, {Bootstrap::distributed, "distributed"}}}};

/// Files that prove who the agents are.
struct TrustConfig {
    std::string roster;
    std::string identity;  ///< %r is the agent
};

/// A run to resume.
struct ResumeConfig {
    std::string directory;
    std::vector<int> without;    ///< numbers of agents that leave; ascending
    std::vector<int> joining{};  ///< numbers of agents that take part from here on; ascending
    bool finish = false;         ///< it ends at its checkpoint, without another round
    /// Names of the options that this process was given beside the directory; everything else is
    /// as rank 0's config.ini has it.
    std::vector<std::string> given{};
};

/// How a clip is learnt (QuantileClip).
struct LearntClipConfig {
    double quantile = 0.9;
    double share = 0.05;
    std::optional<double> rate;  ///< of log C; none: clip_rate_for
};

/// A network that a dry run imagines between hosts.
struct NetworkSpec {
    double latency_seconds = 0;  ///< HostNetwork: half of what `ping` says
    double bits_per_second = 0;
    std::optional<int> hosts;  ///< none: as ranks really are; in one process every rank has one
    std::optional<int> ranks;  ///< none: those of the job; in one process every agent has one
    [[nodiscard]] HostNetwork between_hosts() const { return {latency_seconds, bits_per_second}; }
    [[nodiscard]] bool operator==(const NetworkSpec&) const = default;
};

struct TrainConfig {
    GraphConfig graph;
    AskedPlan plan;
    TaskConfig task;
    LearntClipConfig clip;
    double l2 = 0;
    long evaluate_every = 0;  ///< rounds; 0: fifty times a run
    /// That an evaluation reads of the test set and of the training data; unset: usual_records
    /// (training.hpp).
    std::optional<EvaluatedRecords> evaluated_records;
    /// Whether to compare with the lowest loss possible, which sends exact derivatives of every
    /// agent's loss to rank 0. Unset: where ranks read the same data, or all agents live in one
    /// process.
    std::optional<bool> optimality_gap;
    bool tensorboard = false;  ///< event files in the run directory, beside metrics.csv
    bool baseline = false;     ///< without privacy, too, where one process hosts all agents
    bool verbose = false;      ///< tells people everything about plan and training
    bool dry_run = false;
    std::optional<NetworkSpec> network;  ///< that a dry run predicts rounds for
    std::optional<std::uint64_t> noise_seed;
    Bootstrap bootstrap = Bootstrap::central;
    /// File whose appearance says that an agent leaves while the run goes on; %r is its number.
    std::optional<std::string> leave_file;
    /// Numbers of agents that do not take part yet; ascending.
    std::vector<int> spares;
    /// File whose appearance at agent 0's process says that a spare joins; %r is its number.
    std::optional<std::string> join_file;
    std::optional<std::string> neighbours;  ///< file of what an agent knows of the graph; %r
    std::optional<TrustConfig> trust;       ///< none: peers are unauthenticated
    bool link_encryption = true;            ///< over MPI; in one process nothing crosses a wire
    MessagePrecision precision = MessagePrecision::float64;  ///< of what agents send each other
    bool secure_sum = false;        ///< agents learn weighted sums of messages only
    int mask_partners = 16;         ///< on each side, in secure sums (mask_partners() in trust/)
    bool pad_rounds = false;        ///< sampled batches take as long whatever their size
    std::string views;              ///< additional views of the ledger, separated by ';'
    std::vector<int> record_views;  ///< agents whose views are written to the run directory
    bool record_wire = false;       ///< and what every agent puts on the wire
    double past_noise_mib = 2048;   ///< a process keeps at most, where rounds are correlated
    std::optional<std::string> run_directory;
    long checkpoint_every = 0;  ///< rounds; 0: only where the run is stopped
    std::optional<ResumeConfig> resume;
    double stall_abort_seconds = 300;  ///< of the rounds; ten times as much in the bootstrap
    int asked_threads = 0;             ///< of one process; 0: whoever starts the run decides
    int threads = 1;                   ///< what that comes to here
    /// File from which a run is deducted before it begins (BudgetAccountFile); %r is the agent.
    std::optional<std::string> budget_account;

    /// Whether figures of the rounds alone are asked for: what secure sums hide, partial views.
    [[nodiscard]] bool asks_about_rounds_alone() const { return secure_sum || !views.empty(); }
};

}  // namespace sotto
