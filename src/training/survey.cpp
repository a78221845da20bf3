#include "training/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "agent/bootstrap.hpp"
#include "agent/trainer.hpp"
#include "core/numbers.hpp"
#include "learn/norm_histogram.hpp"
#include "learn/table_shape.hpp"
#include "net/agreement.hpp"
#include "noise/noise_source.hpp"
#include "planning/budgets.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "planning/tuning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "tasks/task.hpp"
#include "tasks/task_data.hpp"
#include "training/local_agents.hpp"
#include "training/open_run.hpp"
#include "training/prepare_run.hpp"
#include "training/run_checkpoints.hpp"
#include "training/short_messages.hpp"
#include "training/train_report.hpp"

namespace sotto {

namespace {

constexpr double little_difference = 0.001;
constexpr int most_exchanges = 6000;

/// Agents whose contribution is that of all their records.
std::vector<LocalAgent> agents_of_survey(const PreparedRun& prepared,
                                         std::vector<std::unique_ptr<Objective>> objectives) {
    std::vector<LocalAgent> agents;
    for (std::size_t a = 0; a < objectives.size(); ++a) {
        const LocalAgent& own = prepared.agents[a];
        const Eigen::Index records = objectives[a]->records();
        agents.emplace_back(
            own.id,
            std::move(objectives[a]),
            BatchSampler::cyclic(records, 1, prepared.run.config.task.seed, own.number),
            1,
            own.number);
    }
    return agents;
}

TrainerOptions options_of_survey(const Run& run, const Survey& survey) {
    TrainerOptions options;
    options.clip_norm = survey.clip_norm;
    options.adjacency = run.config.plan.adjacency;
    options.steps = survey.phase.use.steps;
    options.gossip = consensus_gossip(run.topography.mixing, little_difference, survey.exchanges);
    options.rounds = 1;
    options.key_epoch = survey.phase.key_epoch;
    options.threads = run.config.threads;
    return options;
}

/// The sum over all agents, as each local agent knows it: dimension x local agents. COLLECTIVE.
Eigen::MatrixXd sums_of(OpenRun& open,
                        const Survey& survey,
                        std::vector<std::unique_ptr<Objective>> objectives,
                        int phase) {
    Run& run = open.prepared.run;
    Network& network = run.network;
    const Eigen::Index dimension = objectives.front()->dimension();
    network.agree([&] {
        if (run.config.link_encryption && network.processes() > 1)
            network.protect(run.session.secrets, survey.phase.key_epoch);
    });
    const MessagePrecision of_training = network.message_precision();
    network.set_message_precision(survey_precision(run.config));
    Trainer trainer(network,
                    run.topography.schedule(),
                    survey.plan,
                    NoiseSource(survey.plan, open.rings, run.config.threads, run.most_past_bytes()),
                    agents_of_survey(open.prepared, std::move(objectives)),
                    Eigen::VectorXd::Zero(dimension),
                    options_of_survey(run, survey));
    Recorders recorders;
    network.agree([&] {
        recorders =
            Recorders(run,
                      open.rings,
                      open.directory.path() /
                          recordings_of(*survey.phase.survey, open.prepared.history.starts - 1),
                      {survey.plan, survey.phase.key_epoch, survey.exchanges, dimension});
    });
    recorders.observe(trainer);
    RunCheckpoints checkpoints(open, trainer, phase);
    checkpoints.begin();
    declare_begun(open);
    checkpoints.copy_beginning();
    checkpoints.before_round(0);
    trainer.run_round(0);
    recorders.finish();
    network.set_message_precision(of_training);
    return -network.agents() * trainer.estimates();
}

/// g, the same on every agent: process 0 says which bins are heaviest, and every agent checks that
/// they are in its own counts. COLLECTIVE.
double agree_on_norm(const PreparedRun& prepared, const Eigen::MatrixXd& counts) {
    constexpr std::size_t most_bytes = 64;
    Network& network = prepared.run.network;
    std::string own;
    if (network.process() == 0) {
        const TypicalNorm norm = typical_norm(counts.col(0));
        own = fmt::format("{} {:.3f}", norm.bin, norm.position);
    }
    double g = 0;
    hear_process_0(network, own, most_bytes, [&](const std::string& said) {
        const std::vector<std::string_view> words = split(said, ' ');
        if (words.size() != 2)
            throw NetworkError(fmt::format(
                "rank 0 said '{}' for the norm of gradients (allowed: a bin and a place)", said));
        TypicalNorm norm;
        norm.bin = static_cast<Eigen::Index>(parse_integer("bin of norms", words[0]));
        norm.position = parse_real("place in bins of norms", words[1]);
        for (Eigen::Index a = 0; a < counts.cols(); ++a)
            if (!is_typical(norm, counts.col(a)))
                throw NetworkError(fmt::format(
                    "agent {}: rank 0 says that most gradients have norms about {:.3g}, the counts "
                    "that the agent has received from its neighbours say {:.3g} (give --clip-norm "
                    "and --step-size, or --tune off)",
                    prepared.agents[static_cast<std::size_t>(a)].number,
                    norm.value(),
                    typical_norm(counts.col(a)).value()));
        g = norm.value();
    });
    return g;
}

/// Whether agents' records may differ in kind, and not only in number.
bool may_differ_in_kind(const Run& run) {
    if (one_file_an_agent(run.config.task)) return true;
    const PartitionSpec partition = partition_of(run.config.task, run.shape.target);
    return partition.kind == PartitionSpec::Kind::by_label ||
           partition.kind == PartitionSpec::Kind::by_writer ||
           (partition.kind == PartitionSpec::Kind::dirichlet && partition.alpha <= 1);
}

/// Clip and step for g, rounded alike on all machines.
TunedStep rounded_step(const PreparedRun& prepared, double g) {
    const TrainConfig& config = prepared.run.config;
    const bool given = !config.plan.open.clip_norm;
    const Run& run = prepared.run;
    const bool hidden =
        !prepared.tuning.measured.moments ||
        (run.shape.table &&
         std::ranges::find(run.hidden_columns, run.shape.table->label) != run.hidden_columns.end());
    TunedStep step =
        tuned_step({.norm = g,
                    .clip_norm = given ? std::optional(config.plan.clip_norm) : std::nullopt,
                    .noise = prepared.tuning.noise,
                    .rounds = config.plan.rounds,
                    .dimension = prepared.initial.size(),
                    .momentum = config.plan.momentum,
                    .differing_records = may_differ_in_kind(run),
                    .values = run.shape.target == Target::value,
                    .values_in_bounds = run.shape.table && run.shape.target == Target::value &&
                                        !config.task.table.bounds.empty() && hidden});
    if (!given) step.clip_norm = rounded_to_digits(step.clip_norm);
    step.step_size = config.plan.open.step_size ? rounded_to_digits(step.step_size)
                                                : config.plan.steps.step_size;
    return step;
}

/// Means of z and z^2 over all records, the same on every agent: process 0 says them, and every
/// agent checks them against its own. COLLECTIVE.
Eigen::VectorXd agree_on_moments(const PreparedRun& prepared, const Eigen::MatrixXd& sums) {
    constexpr double near = 0.05;  // of the range of z from -1 to 1
    constexpr std::size_t letters = 24;
    Network& network = prepared.run.network;
    const double records = static_cast<double>(
        std::accumulate(prepared.records.begin(), prepared.records.end(), Eigen::Index{0}));
    std::string own;
    for (const double sum : Eigen::VectorXd(sums.col(0)))
        own += fmt::format("{}{:.6g}", own.empty() ? "" : " ", sum / records);
    Eigen::VectorXd moments(sums.rows());
    const std::size_t most_bytes = letters * static_cast<std::size_t>(sums.rows());
    hear_process_0(network, own, most_bytes, [&](const std::string& said) {
        const std::vector<std::string_view> words = split(said, ' ');
        if (std::ssize(words) != sums.rows())
            throw NetworkError(fmt::format(
                "rank 0 said {} moments of columns (allowed: {})", words.size(), sums.rows()));
        for (Eigen::Index i = 0; i < sums.rows(); ++i)
            moments(i) = parse_real("moment of a column", words[static_cast<std::size_t>(i)]);
        for (Eigen::Index a = 0; a < sums.cols(); ++a)
            if (!((moments - sums.col(a) / records).cwiseAbs().maxCoeff() <= near))
                throw NetworkError(fmt::format(
                    "agent {}: rank 0 says other moments of columns than the agent has received "
                    "from its neighbours (start again, or use --bounds without --standardise)",
                    prepared.agents[static_cast<std::size_t>(a)].number));
    });
    return moments;
}

/// Scales the data by what was learnt. COLLECTIVE.
void take_moments(PreparedRun& prepared, const NoisePlan& plan, const Eigen::MatrixXd& sums) {
    const Eigen::VectorXd moments = agree_on_moments(prepared, sums);
    Run& run = prepared.run;
    const double records = static_cast<double>(
        std::accumulate(prepared.records.begin(), prepared.records.end(), Eigen::Index{0}));
    const double noise =
        rounded_to_digits(plan.agents * std::sqrt(mean_noise_variance(plan)) / records);
    run.network.agree([&] {
        const TableShape& shape = run.shape.table.value();
        const TableOptions& options = run.config.task.table;
        run.config.task.known_scaling = scaling_by_moments(shape, options, moments, noise);
        run.hidden_columns =
            columns_hidden_by_noise(shape, options, *run.config.task.known_scaling, noise);
        prepared.history.scaling = run.config.task.known_scaling;
    });
    LocalTask task = build_task(run.config.task, run.network, run.members);
    run.network.agree([&] {
        for (std::size_t a = 0; a < prepared.agents.size(); ++a)
            prepared.agents[a].objective = std::move(task.objectives[a]);
        run.scaling = std::move(task.scaling);
        run.targets = task.targets;
    });
}

std::vector<std::unique_ptr<Objective>> norm_histograms(const PreparedRun& prepared) {
    std::vector<std::unique_ptr<Objective>> histograms;
    for (const LocalAgent& agent : prepared.agents)
        histograms.push_back(make_norm_histogram(*agent.objective, prepared.initial));
    return histograms;
}

/// What a survey is to reveal of a record.
struct SurveyDemand {
    const SurveyKind* kind = nullptr;
    double length = 1;    ///< most that one record adds, L2
    double replaced = 2;  ///< most that a record which is replaced changes, in units of `length`
    std::uint32_t key_epoch = 0;
};

Survey agree_on_survey(const SurveyDemand& demand,
                       const AgreedPhase& training,
                       const Run& run,
                       const NoisePlan& plan,
                       const std::vector<Eigen::Index>& records) {
    constexpr std::size_t most_bytes = 64;
    Network& network = run.network;
    const MixingMatrix& mixing = run.topography.mixing;
    const int agents = run.plan.agents;
    const Adjacency adjacency = run.config.plan.adjacency;
    Survey survey;
    survey.plan = plan;
    survey.clip_norm = demand.length * (adjacency == Adjacency::record ? demand.replaced / 2 : 1);
    survey.exchanges = consensus_gossip(mixing, little_difference, most_exchanges).steps();
    const int coalition = coalition_size_of(run.phase, agents, &plan);
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
    std::string own;
    network.agree([&] {
        for (int u = 0; u < agents; ++u) {
            const auto place = static_cast<std::size_t>(u);
            exposures.push_back(
                agent_exposure(adjacency, {}, survey.clip_norm, 1, records[place], 1));
            budgets.push_back(
                training.run_budgets[static_cast<std::size_t>(run.members.number(u))]);
            budgets.back().limit =
                PrivacyLoss::gaussian(survey_mu(budgets.back(), demand.kind->share));
        }
        if (network.process() != 0) return;
        const Eigen::VectorXd precision = coalition_precision(plan, coalition);
        double louder = 0;
        for (int u = 0; u < agents; ++u) {
            const auto place = static_cast<std::size_t>(u);
            louder = std::max(
                louder,
                std::sqrt(precision(u) / precision_limit(budgets[place], exposures[place])));
        }
        own = fmt::format("{}", louder);
    });
    hear_process_0(network, own, most_bytes, [&](const std::string& said) {
        const double factor = parse_real("noise of a survey", said);
        if (!(factor > 0 && std::isfinite(factor)))
            throw NetworkError(fmt::format(
                "rank 0 chose {} for the noise of a survey (allowed: a number above 0)", said));
        survey.plan = scaled(std::move(survey.plan), factor);
        PlanUse use = plan_use(run.phase, mixing);
        use.participation = {};
        use.steps = {};
        use.steps.step_size = 1;
        use.gossip_steps = survey.exchanges;
        survey.phase = first_phase(survey.plan, exposures, std::move(use), 1);
        survey.phase.members = run.members;
        survey.phase.key_epoch = demand.key_epoch;
        survey.phase.survey = demand.kind;
        survey.phase.sessions = {Hasher("sotto.survey.v1")
                                     .add_bytes(run.session.run_id)
                                     .add(demand.kind->name)
                                     .finish()};
    });
    verify_agreement(network, run.topography, survey.plan, exposures, budgets, coalition);
    return survey;
}

}  // namespace

std::vector<Survey> agree_on_surveys(const Run& run,
                                     const AgreedPhase& phase,
                                     const LocalTask& task,
                                     const Measured& measured,
                                     std::uint32_t key_epoch) {
    std::vector<Survey> surveys;
    if (measured.surveys() == 0) return surveys;
    const NoisePlan plan = plan_of_surveys(run.plan, task.records);
    if (measured.moments)
        surveys.push_back(agree_on_survey(
            {.kind = &survey_of_moments,
             .length = std::sqrt(static_cast<double>(task.moments.front()->dimension())),
             .key_epoch = key_epoch++},
            phase,
            run,
            plan,
            task.records));
    if (measured.norms)
        // Two counts change by one where a record is replaced.
        surveys.push_back(agree_on_survey(
            {.kind = &survey_of_norms, .replaced = std::sqrt(2.0), .key_epoch = key_epoch},
            phase,
            run,
            plan,
            task.records));
    return surveys;
}

double bytes_of_surveys(const Topography& topography,
                        const Measured& measured,
                        Eigen::Index moments,
                        MessagePrecision precision) {
    if (measured.surveys() == 0) return 0;
    const auto bytes_of = [&](Eigen::Index values) {
        return static_cast<double>(piece_bytes(precision, static_cast<std::size_t>(values)));
    };
    return consensus_gossip(topography.mixing, little_difference, most_exchanges).steps() *
           static_cast<double>(topography.graph.messages()) *
           ((measured.norms ? bytes_of(norm_bins) : 0) +
            (measured.moments ? bytes_of(moments) : 0));
}

void carry_out_surveys(OpenRun& open) {
    PreparedRun& prepared = open.prepared;
    if (prepared.surveys.empty()) return;
    const std::vector<Survey> surveys = std::exchange(prepared.surveys, {});
    const int first =
        static_cast<int>(prepared.history.phases.size()) - static_cast<int>(surveys.size());
    for (std::size_t k = 0; k < surveys.size(); ++k) {
        const int phase = first + static_cast<int>(k);
        if (surveys[k].phase.survey == &survey_of_moments)
            take_moments(prepared,
                         surveys[k].plan,
                         sums_of(open, surveys[k], std::exchange(prepared.moments, {}), phase));
        else
            prepared.tuning.norm = agree_on_norm(
                prepared, sums_of(open, surveys[k], norm_histograms(prepared), phase));
    }
    const bool step = prepared.run.config.plan.open.measured();
    take_step(prepared,
              step ? rounded_step(prepared, prepared.tuning.norm)
                   : TunedStep{prepared.run.config.plan.clip_norm,
                               prepared.run.config.plan.steps.step_size});
    go_on_to_training(open);
}

}  // namespace sotto
