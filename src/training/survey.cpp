#include "training/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "agent/bootstrap.hpp"
#include "agent/trainer.hpp"
#include "core/numbers.hpp"
#include "learn/norm_histogram.hpp"
#include "noise/noise_source.hpp"
#include "options/train_options.hpp"
#include "planning/budgets.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "training/local_agents.hpp"
#include "training/open_run.hpp"
#include "training/prepare_run.hpp"
#include "training/run_checkpoints.hpp"

namespace sotto {

namespace {

constexpr double little_difference = 0.01;
constexpr int most_exchanges = 4000;

/// One round with every record of every agent, in which a record adds at most `length`.
SettledPlan plan_of_survey(const PlanConfig& training, double share, double length) {
    SettledPlan plan = training;
    plan.survey = true;
    plan.survey_share = share;
    plan.rounds = 1;
    plan.clip_norm = length;
    plan.learn_clip = false;
    plan.batch_size = BatchSize(1);  // the divisor: sums are sent
    plan.participation = {};
    plan.steps = {};
    plan.steps.step_size = 1;
    plan.momentum = 0;
    plan.average = {};
    plan.final_gossip = 0;
    return plan;
}

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

std::vector<KeyRing> rings_of(const Run& run, Survey& survey) {
    return run.config.noise_seed
               ? distribute_seeds(run.network, survey.plan, *run.config.noise_seed)
               : distribute_seeds(run.network, survey.plan, survey.session, run.config.threads);
}

TrainerOptions options_of_survey(const Run& run, const Survey& survey) {
    TrainerOptions options;
    options.clip_norm = survey.config.clip_norm;
    options.adjacency = survey.config.adjacency;
    options.steps = survey.config.steps;
    options.gossip = consensus_gossip(run.topography.mixing, little_difference, survey.exchanges);
    options.rounds = 1;
    options.key_epoch = survey.phase.key_epoch;
    options.threads = run.config.threads;
    return options;
}

/// The sum over all agents, as each local agent knows it: dimension x local agents. COLLECTIVE.
Eigen::MatrixXd sums_of(OpenRun& open,
                        Survey& survey,
                        std::vector<std::unique_ptr<Objective>> objectives,
                        int phase) {
    Run& run = open.prepared.run;
    Network& network = run.network;
    const Eigen::Index dimension = objectives.front()->dimension();
    const std::vector<KeyRing> rings = rings_of(run, survey);
    network.agree([&] {
        if (run.config.link_encryption && network.processes() > 1)
            network.protect(survey.session.secrets, survey.phase.key_epoch);
    });
    Trainer trainer(network,
                    run.topography.schedule(),
                    survey.plan,
                    NoiseSource(survey.plan, rings, run.config.threads, run.most_past_bytes()),
                    agents_of_survey(open.prepared, std::move(objectives)),
                    Eigen::VectorXd::Zero(dimension),
                    options_of_survey(run, survey));
    Recorders recorders;
    network.agree([&] {
        recorders =
            Recorders(run,
                      rings,
                      open.directory.path() /
                          numbered_file("views-survey", "", open.prepared.history.starts - 1),
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
    const std::string said = network.broadcast(own, most_bytes);
    double g = 0;
    network.agree([&] {
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

/// Clip and step for g, rounded alike on all machines.
TunedStep rounded_step(const PreparedRun& prepared, double g) {
    const TrainConfig& config = prepared.run.config;
    const auto rounded = [](double value) {
        return parse_real("tuned value", fmt::format("{:.4g}", value));
    };
    const bool given = !config.plan.open.clip_norm;
    TunedStep step = tuned_step(g,
                                given ? std::optional(config.plan.clip_norm) : std::nullopt,
                                prepared.tuning.noise,
                                config.plan.rounds,
                                config.plan.momentum);
    if (!given) step.clip_norm = rounded(step.clip_norm);
    step.step_size =
        config.plan.open.step_size ? rounded(step.step_size) : config.plan.steps.step_size;
    return step;
}

std::vector<std::unique_ptr<Objective>> norm_histograms(const PreparedRun& prepared) {
    std::vector<std::unique_ptr<Objective>> histograms;
    for (const LocalAgent& agent : prepared.agents)
        histograms.push_back(make_norm_histogram(*agent.objective, prepared.initial));
    return histograms;
}

}  // namespace

Survey agree_on_survey(const TrainConfig& config,
                       Network& network,
                       const Participants& participants,
                       const LocalTask& task,
                       Survey::Kind kind,
                       double share,
                       double length,
                       std::uint32_t key_epoch) {
    TrainConfig one_round = config;
    one_round.plan =
        AskedPlan(static_cast<const PlanConfig&>(plan_of_survey(config.plan, share, length)));
    const AgreedPhase agreed = agree_on_phase(one_round, network, participants, task, std::nullopt);
    const MixingMatrix& mixing = participants.topography.mixing;
    Survey survey;
    survey.kind = kind;
    survey.config = agreed.config;
    survey.plan = agreed.plan;
    survey.session = open_session(network,
                                  participants.topography,
                                  agreed.plan,
                                  participants.credentials ? &*participants.credentials : nullptr,
                                  agreement_lines(config));
    survey.exchanges = consensus_gossip(mixing, little_difference, most_exchanges).steps();
    PlanUse use = plan_use(agreed.config, mixing);
    use.gossip_steps = survey.exchanges;
    survey.phase = first_phase(agreed.plan, agreed.exposures, std::move(use), 1);
    survey.phase.members = participants.members;
    survey.phase.key_epoch = key_epoch;
    survey.phase.sessions = {survey.session.run_id};
    return survey;
}

void carry_out_surveys(OpenRun& open) {
    PreparedRun& prepared = open.prepared;
    if (prepared.surveys.empty()) return;
    std::vector<Survey> surveys = std::exchange(prepared.surveys, {});
    const int first =
        static_cast<int>(prepared.history.phases.size()) - static_cast<int>(surveys.size());
    for (std::size_t k = 0; k < surveys.size(); ++k) {
        const Eigen::MatrixXd counts =
            sums_of(open, surveys[k], norm_histograms(prepared), first + static_cast<int>(k));
        prepared.tuning.norm = agree_on_norm(prepared, counts);
    }
    take_step(prepared, rounded_step(prepared, prepared.tuning.norm));
    go_on_to_training(open);
}

}  // namespace sotto
