#include "training/prepare_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "options/default_final_gossip.hpp"
#include "options/train_options.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/cycle_choice.hpp"
#include "planning/gossip_choice.hpp"
#include "planning/hidden_by_sums.hpp"
#include "planning/plan_report.hpp"
#include "planning/push_sum_limits.hpp"
#include "planning/sampling_gain.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/core/error.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_words.hpp"
#include "tasks/task.hpp"
#include "tasks/task_data.hpp"
#include "training/agreed_graph.hpp"
#include "training/agreed_phase.hpp"
#include "training/learnt_clip.hpp"
#include "training/local_agents.hpp"
#include "training/participants.hpp"
#include "training/resumed_phase.hpp"
#include "training/stall_limits.hpp"
#include "training/training_warnings.hpp"
#include "training/transport.hpp"

namespace sotto {

namespace {

/// @throws ConfigError where messages cannot be rounded without another guarantee, or for nothing.
void require_possible_precision(const TrainConfig& config,
                                const NoisePlan& plan,
                                bool fixed_inputs) {
    if (config.precision == MessagePrecision::float64) return;
    const auto refuse = [&](const std::string& reason) {
        throw ConfigError(fmt::format("precision: {} is not possible {} (allowed: float64)",
                                      message_precisions.name_of(config.precision),
                                      reason));
    };
    if (config.secure_sum) refuse("with --secure-sum on, whose shares are integers of 64 bits");
    if (plan.aggregation == Aggregation::trusted_mean)
        refuse(fmt::format("with mechanism {}, whose trusted aggregator adds up float64",
                           plan.mechanism));
    if (fixed_inputs)
        refuse(
            "where inputs are fixed in advance: what an observer sees of messages it does not "
            "hear would not be what partial views count");
}

/// @throws ConfigError where messages of the plan cannot be carried, or recorded, as configured.
void require_possible_exchange(const TrainConfig& config,
                               const NoisePlan& plan,
                               bool fixed_inputs) {
    if (config.secure_sum) require_summable(plan);
    require_possible_precision(config, plan, fixed_inputs);
    if (plan.entry != NoiseEntry::gradient &&
        (config.plan.momentum > 0 || config.plan.final_gossip.value_or(0) > 0))
        throw ConfigError(fmt::format(
            "{}: not possible with a plan of mechanism {}, whose noise on messages is counted for "
            "single gradients and does not hide models (allowed: 0)",
            config.plan.momentum > 0 ? "momentum" : "final-gossip",
            plan.mechanism));
    if (config.record_wire && plan.aggregation == Aggregation::trusted_mean)
        throw ConfigError(fmt::format(
            "record-view: eavesdropper is not possible with mechanism {}, where messages go to "
            "a trusted aggregator and not from agent to agent (allowed: agents)",
            plan.mechanism));
}

/// What sums hide, where agents learn sums only: every process makes sure that they do, process 0
/// tells more. COLLECTIVE. @throws ConfigError.
std::optional<SumHiding> agree_on_sums(const Run& run) {
    std::optional<SumHiding> hiding;
    run.network.agree([&] {
        if (!run.config.secure_sum) return;
        hiding = hidden_by_sums(run.topography,
                                run.members,
                                sum_rules(run.phase, run.topography, run.config.mask_partners),
                                coalition_size_of(run.phase, run.plan.agents, &run.plan),
                                run.leader() ? colluders_to_tell_of : 0);
    });
    return hiding;
}

/// Budgets of all agents of the run; where its noise is given, those who are there have what is
/// left to them.
std::vector<PrivacyBudget> ledger_budgets(const AgreedPhase& phase, const Membership& members) {
    if (!phase.resumption) return phase.budgets;
    std::vector<PrivacyBudget> budgets = phase.run_budgets;
    if (!phase.config.noise_std) return budgets;
    for (int place = 0; place < members.size(); ++place)
        budgets[static_cast<std::size_t>(members.number(place))] =
            phase.budgets[static_cast<std::size_t>(place)];
    return budgets;
}

/// The phases so far, and the one to come.
std::vector<PrivacyPhase> phases_of(const Run& run, const AgreedPhase& phase) {
    std::vector<PrivacyPhase> phases =
        phase.resumption ? phase.resumption->past : std::vector<PrivacyPhase>{};
    PrivacyPhase& now = phases.emplace_back(first_phase(
        run.plan, phase.exposures, plan_use(run.phase, run.topography.mixing), run.phase.rounds));
    now.members = run.members;
    now.key_epoch = run.key_epoch;
    now.sessions = {run.session.run_id};
    if (!phase.resumption || !phase.resumption->going_on) return phases;
    // Of a run that ends here nothing is sent any more.
    if (phase.resumption->finish)
        now = *phase.resumption->going_on;
    else
        now = going_on_as(*phase.resumption->going_on, now, run.config.plan);
    return phases;
}

/// The ledger, with what there is to say about how the run is carried out. COLLECTIVE.
Ledger open_ledger(const Run& run, const AgreedPhase& phase, const LocalTask& task) {
    std::vector<PrivacyPhase> phases;
    run.network.agree([&] { phases = phases_of(run, phase); });
    PrivacyRecord record{.phases = std::move(phases),
                         .budgets = ledger_budgets(phase, run.members),
                         .adjacency = run.config.plan.adjacency,
                         .rounds = run.config.plan.rounds,
                         .dimension = static_cast<long>(task.initial.size()),
                         .reproducible_noise = run.config.noise_seed.has_value(),
                         .authentication = run.session.authentication(),
                         .secure_sums = agree_on_sums(run),
                         .more_statements = transport_statements(
                             run.config, run.network, run.plan, run.optimality_gap)};
    // Of what was spent before, it says nothing.
    if (run.leader() && !phase.resumption)
        std::ranges::move(
            sampling_statements(phase.config, phase.exposures, phase.budgets, task.records),
            std::back_inserter(record.more_statements));
    std::ranges::move(clip_statements(run.config), std::back_inserter(record.more_statements));
    std::ranges::copy(task.statements, std::back_inserter(record.more_statements));
    Ledger ledger(std::move(record));
    run.network.agree([&] {
        // Where the noise is given no epsilon is promised: the ledger says what it is.
        if (!run.config.plan.noise_std)
            require_small_tails(ledger.tails(run.config.plan.rounds), ledger.delta());
    });
    return ledger;
}

/// The history so far, and the phase to come.
RunHistory history_with(const Run& run,
                        const Ledger& ledger,
                        const std::optional<RunHistory>& before) {
    RunHistory history = before.value_or(RunHistory{
        .run = run.session.run_id, .rounds = run.config.plan.rounds, .starts = 0, .phases = {}});
    history.phases = ledger.record().phases;
    history.checkpoint_every = run.config.checkpoint_every;
    history.features = run.shape.features;
    history.labels = run.shape.labels;
    history.table = run.shape.table;
    return history;
}

ResumedRun resumed_run(const Resumption& resumption, const Membership& members) {
    return {resumption.round,
            resumption.repeated,
            resumption.key_epoch,
            resumption.going_on.has_value(),
            resumption.finish,
            members.gone()};
}

/// Which label of a graph file which agent has; empty where the labels are the agents' numbers.
std::string agents_line(const Run& run) {
    std::vector<std::string> names;
    bool named = false;
    for (int place = 0; place < run.topography.graph.agents(); ++place) {
        const int number = run.members.number(place);
        const std::string& label = run.topography.graph.label(place);
        named = named || label != std::to_string(number);
        names.push_back(fmt::format("{} is '{}'", number, label));
    }
    if (!named) return {};
    return fmt::format("agents     {}\n",
                       run.config.verbose ? fmt::format("{}", fmt::join(names, ", "))
                                          : short_list(std::move(names)));
}

/// How a run was taken up, and what was read.
std::string beginning_of(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    std::string text;
    if (prepared.resumption)
        text = resumption_text(resumed_run(*prepared.resumption, run.members),
                               prepared.resumption->notes);
    if (!run.shape.labels.empty())
        text += fmt::format("classes    {}\n",
                            classes_text(label_texts(run.shape.table, run.shape.labels)));
    text += agents_line(run);
    for (const std::string& line : run.understood) text += fmt::format("data       {}\n", line);
    return text;
}

/// What there is to tell people, on process 0. @param phase but for what the run has taken of it.
void put_into_words(PreparedRun& prepared, const AgreedPhase& phase) {
    const Run& run = prepared.run;
    prepared.words = plan_words(*prepared.planned,
                                run.config.plan,
                                phase.budgets,
                                run.shape.table ? run.shape.table->unit : std::string());
    prepared.outline = beginning_of(prepared) + fmt::format("plan       {}\n", prepared.words.plan);
    prepared.report =
        beginning_of(prepared) + plan_report_text(*prepared.planned,
                                                  run.phase,
                                                  phase.exposures,
                                                  phase.budgets,
                                                  statements_of(prepared.ledger.record()));
    // Canaries of an audit are contributed to be found: nobody wants the models.
    if (!prepared.coordinates)
        prepared.warnings = warnings_before_rounds(run, std::ssize(prepared.initial));
}

/// Exact derivatives tell nothing new to ranks that all read the same data.
bool asks_for_optimality_gap(const TrainConfig& config, const Network& network) {
    return config.optimality_gap.value_or(network.processes() == 1 ||
                                          !one_file_an_agent(config.task));
}

/// What the options left to the plan.
struct PlanChoices {
    ShapeChoice temporal;
    CycleChoice cycle;
    GossipChoice gossip;
};

/// Leaves nothing open in config.plan. COLLECTIVE.
PlanChoices settle_plan(TrainConfig& config,
                        Network& network,
                        const Participants& there,
                        LocalTask& task) {
    const auto dimension = static_cast<long>(task.initial.size());
    AgreedTemporal temporal = agree_on_temporal(
        config.plan, network, there.topography, task.records, dimension, there.solves);
    AgreedCycle cycle =
        agree_on_cycle(temporal.config, network, there.topography, task.records, there.solves);
    config.plan = std::move(cycle.config);
    learn_clip(config, network, task);
    AgreedGossip gossip = agree_on_gossip(
        config.plan, network, there.topography, task.records, dimension, there.solves);
    config.plan = std::move(gossip.config);
    return {std::move(temporal.choice), std::move(cycle.choice), std::move(gossip.choice)};
}

void tell_choices(PlanChoices choices, PlannedNoise& planned) {
    planned.cycle_choice = std::move(choices.cycle);
    // A cycle that was chosen brings its own band.
    if (planned.cycle_choice.candidates.empty())
        planned.temporal_choice = std::move(choices.temporal);
    planned.gossip_choice = std::move(choices.gossip);
}

/// The handshake about what everybody has agreed on. COLLECTIVE.
Run meet(const TrainConfig& config,
         Network& network,
         Participants there,
         const AgreedPhase& phase,
         const LocalTask& task,
         bool resumable) {
    Session session = open_session(network,
                                   there.topography,
                                   phase.plan,
                                   there.credentials ? &*there.credentials : nullptr,
                                   agreement_lines(config));
    return {.config = config,
            .network = network,
            .members = std::move(there.members),
            .topography = std::move(there.topography),
            .graph_description = there.built ? there.built->description : std::string(),
            .task_description = task.description,
            .own_tests = task.own_tests,
            .shape = task.shape,
            .scaling = task.scaling,
            .file_names = task.file_names,
            .understood = task.understood,
            .targets = task.targets,
            .phase = phase.config,
            .plan = phase.plan,
            .key_epoch = phase.resumption ? phase.resumption->key_epoch : 0,
            .optimality_gap = asks_for_optimality_gap(config, network),
            .resumable = resumable,
            .credentials = std::move(there.credentials),
            .session = std::move(session)};
}

/// @throws ConfigError naming what agents that know their neighbours only cannot do.
void require_possible_neighbours(const TrainConfig& config, const Membership& members) {
    const auto refuse = [](const char* option, const char* instead) {
        throw ConfigError(
            fmt::format("neighbours: not possible with --{} (allowed: {})", option, instead));
    };
    if (config.graph.topology.directed) refuse("directed", "--graph FILE --directed");
    if (members.size() != members.all)
        refuse(config.resume ? "without" : "spares",
               "the run's graph.edges, --graph DIR/graph.edges");
}

/// @throws ConfigError where private data would have to leave their agents, or a program has the
/// gradients.
void require_possible_baseline(const TrainConfig& config, const Network& network, bool handed) {
    if (!config.baseline || (network.processes() == 1 && !handed)) return;
    throw ConfigError(fmt::format(
        "baseline: on is not possible {} (allowed: off)",
        handed ? "where a program computes gradients"
               : "over MPI, where private data would have to leave their agents; without mpirun "
                 "all agents are in one process"));
}

/// Agents that know their neighbours only tell each other. COLLECTIVE.
void settle_graph(TrainConfig& config, Network& network, const Membership& members) {
    const bool anybody = network.maximum(config.neighbours ? 1 : 0) > 0;
    if (!anybody) return;
    network.agree([&] {
        if (!config.neighbours)
            throw ConfigError(
                "neighbours: given on other ranks (allowed: --neighbours on all ranks, or on "
                "none)");
        require_possible_neighbours(config, members);
    });
    config.graph.agreed = agree_on_graph(network, *config.neighbours);
    config.bootstrap = Bootstrap::distributed;
}

/// Everybody has read what process 0 has; each local agent is committed to its own data, by the
/// commitment of its checkpoint where the run is taken up. COLLECTIVE.
void agree_on_data(Run& run, const AgreedPhase& phase, DataDigests digests) {
    run.data = std::move(digests);
    require_same_data(run.network, run.session.secrets, run.data);
    run.network.agree([&] {
        for (std::size_t a = 0; a < run.network.local_agents().size(); ++a)
            run.data_commitments.push_back(phase.resumption
                                               ? phase.resumption->local[a].data
                                               : commit_to_data(digest_of_agent(run.data, a)));
    });
}

}  // namespace

PreparedRun prepare_run(const TrainConfig& asked,
                        Network& network,
                        const std::function<LocalTask()>& make_task) {
    TrainConfig config = asked;
    network.watch_for_stalls(stall_limits(config.stall_warn_seconds,
                                          config.stall_abort_seconds,
                                          network.process_name(),
                                          patience_outside_rounds));
    verify_same_options(network, config);
    network.agree([&] { require_possible_baseline(config, network, make_task != nullptr); });
    network.set_message_precision(config.precision);
    settle_final_gossip(config, network);
    std::optional<RunHistory> before;
    if (config.resume)
        before = share_history(network, *config.resume, most_temporal_values(config.plan));
    if (before) {
        config.task.known_labels = before->labels;
        config.task.known_features = before->features;
        config.task.known_table = before->table;
    }
    Membership members = agree_on_members(config, network, before ? &*before : nullptr);
    settle_graph(config, network, members);
    RestoredFiles restored(config.dry_run ? Stay::for_a_look : Stay::for_good,
                           config.resume ? config.resume->directory : std::string());
    std::optional<FoundCheckpoint> found;
    if (before) found = open_checkpoint(network, config, members, restored);
    Participants there = gather_participants(config, network, std::move(members));
    if (make_task) network.agree([&] { require_given_clip(config.plan); });
    LocalTask task = make_task ? make_task() : build_task(config.task, network, there.members);
    std::optional<Resumption> resumption;
    if (before) {
        resumption =
            take_up(network, config, std::move(*found), *before, there.members, there.credentials);
        let_enter(*resumption, task, config);
    }
    PlanChoices choices = settle_plan(config, network, there, task);
    AgreedPhase phase = agree_on_phase(config, network, there, task, std::move(resumption));
    if (phase.planned) tell_choices(std::move(choices), *phase.planned);
    std::optional<BuiltTopography> built = there.built;
    const std::optional<Topography> whole = there.whole;
    Run run = meet(config, network, std::move(there), phase, task, !make_task || task.resumable);
    agree_on_data(run, phase, std::move(task.digests));
    std::vector<LocalAgent> agents =
        build_agents(run, std::move(task.objectives), task.rows_are_rounds, phase.exposures);
    network.connect(run.topography.graph);
    network.agree([&] {
        require_possible_push_sum(run.topography, run.plan, config.l2);
        require_possible_exchange(config, run.plan, task.fixed_inputs);
    });
    Ledger ledger = open_ledger(run, phase, task);
    RunHistory history = history_with(run, ledger, before);
    std::optional<LedgerViews> views;
    network.agree([&] {
        if (run.leader()) views.emplace(config, *whole, history.phases, task.fixed_inputs);
    });
    PreparedRun prepared{.run = std::move(run),
                         .built = std::move(built),
                         .planned = std::move(phase.planned),
                         .agents = std::move(agents),
                         .initial = std::move(task.initial),
                         .coordinates = task.coordinates,
                         .ledger = std::move(ledger),
                         .views = std::move(views),
                         .history = std::move(history),
                         .resumption = std::move(phase.resumption)};
    if (prepared.run.leader()) put_into_words(prepared, phase);
    return prepared;
}

TrainResult result_with_account(const PreparedRun& prepared, long rounds) {
    const Run& run = prepared.run;
    TrainResult result;
    const std::vector<Guarantee> spent = prepared.ledger.after(rounds);
    result.mu = largest(spent).loss.mu().value_or(not_a_number);
    result.epsilon = largest(spent).epsilon;
    for (const Guarantee& agent : spent) result.epsilons.push_back(agent.epsilon);
    result.agent_files = run.file_names;
    result.mechanism = run.plan.mechanism;
    result.agents = run.network.agents();
    result.processes = run.network.processes();
    result.delta = run.config.plan.delta;
    result.dry_run = run.config.dry_run;
    result.gossip_steps = run.config.plan.gossip_steps;
    result.final_gossip = final_gossip_steps(run.phase, run.topography.schedule());
    if (prepared.planned) result.plan_seconds = prepared.planned->seconds;
    result.words = prepared.words;
    result.warnings = prepared.warnings;
    result.baselines.constant_accuracy = run.targets.constant_accuracy;
    result.baselines.constant_loss = run.targets.constant_loss;
    result.baselines.test_records = run.targets.test_records;
    if (prepared.resumption) {
        result.rounds = prepared.resumption->round;
        result.resumed = resumed_run(*prepared.resumption, run.members);
    }
    return result;
}

}  // namespace sotto
