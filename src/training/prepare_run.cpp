#include "training/prepare_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "agent/bootstrap.hpp"
#include "agent/evaluation.hpp"
#include "options/plan_options.hpp"
#include "options/train_options.hpp"
#include "planning/asked_plan.hpp"
#include "planning/choices.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/corrections.hpp"
#include "planning/plan_report.hpp"
#include "planning/settle.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/task.hpp"
#include "tasks/task_data.hpp"
#include "training/convex_run.hpp"
#include "training/learnt_clip.hpp"
#include "training/local_agents.hpp"
#include "training/participants.hpp"
#include "training/person_protection.hpp"
#include "training/preconditioning.hpp"
#include "training/resume.hpp"
#include "training/robust_run.hpp"
#include "training/round_deadline.hpp"
#include "training/short_messages.hpp"
#include "training/stop_signal.hpp"
#include "training/train_report.hpp"
#include "training/view_protection.hpp"

namespace sotto {

namespace {

/// What secure sums hide. Every process checks that they hide what is required; process 0 also
/// finds details to report. COLLECTIVE. @throws ConfigError.
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

/// Budgets of all agents of the run; with --noise-std, participants have what remains of theirs.
std::vector<PrivacyBudget> ledger_budgets(const AgreedPhase& phase, const Membership& members) {
    if (!phase.resumption) return phase.budgets;
    std::vector<PrivacyBudget> budgets = phase.run_budgets;
    if (!phase.config.noise_std) return budgets;
    for (int place = 0; place < members.size(); ++place)
        budgets[static_cast<std::size_t>(members.number(place))] =
            phase.budgets[static_cast<std::size_t>(place)];
    return budgets;
}

/// The phases so far, and the next ones.
std::vector<PrivacyPhase> phases_of(const Run& run,
                                    const AgreedPhase& phase,
                                    const std::vector<Survey>& surveys) {
    std::vector<PrivacyPhase> phases =
        phase.resumption ? phase.resumption->past : std::vector<PrivacyPhase>{};
    for (const Survey& survey : surveys) phases.push_back(survey.phase);
    PrivacyPhase& now = phases.emplace_back(first_phase(
        run.plan, phase.exposures, plan_use(run.phase, run.topography.mixing), run.phase.rounds));
    now.members = run.members;
    now.key_epoch = run.key_epoch;
    now.sessions = {run.session.run_id};
    if (!phase.resumption || !phase.resumption->going_on) return phases;
    // A run that ends here sends nothing more.
    if (phase.resumption->finish)
        now = *phase.resumption->going_on;
    else
        now = going_on_as(*phase.resumption->going_on, now, run.config.plan);
    return phases;
}

/// The ledger, with statements on how the run is carried out. COLLECTIVE.
Ledger open_ledger(const Run& run,
                   const AgreedPhase& phase,
                   const std::vector<Survey>& surveys,
                   const LocalTask& task,
                   std::span<const LocalAgent> agents) {
    std::vector<PrivacyPhase> phases;
    std::optional<ConvexLosses> convex;
    run.network.agree([&] {
        phases = phases_of(run, phase, surveys);
        convex = convex_losses(run, task, agents);
    });
    PrivacyRecord record{.phases = std::move(phases),
                         .budgets = ledger_budgets(phase, run.members),
                         .adjacency = run.config.plan.adjacency,
                         .unit_column = run.shape.table ? run.shape.table->unit : task.person,
                         .unit_agents = run.config.plan.unit_agents,
                         .rounds = run.config.plan.rounds,
                         .dimension = static_cast<long>(task.initial.size()),
                         .reproducible_noise = run.config.noise_seed.has_value(),
                         .authentication = run.session.authentication(),
                         .secure_sums = agree_on_sums(run),
                         .convex = convex,
                         .more_statements = transport_statements(
                             run.config, run.network, run.plan, run.optimality_gap)};
    const auto state = [&](const std::vector<std::string>& statements) {
        std::ranges::copy(statements, std::back_inserter(record.more_statements));
    };
    // These statements do not cover earlier phases.
    if (run.leader() && !phase.resumption)
        state(sampling_statements(phase.config, phase.exposures, phase.budgets, task.records));
    state(clip_statements(run.config));
    state(correction_statements(run.config.plan));
    state(preconditioner_statements(run.config));
    if (!phase.protected_views.empty()) state({phase.protected_views});
    state(convex_statements(convex));
    state(task.statements);
    Ledger ledger(std::move(record));
    run.network.agree([&] {
        // With --noise-std no epsilon is promised, so the ledger states the noise.
        if (!run.config.plan.noise_std)
            require_small_tails(ledger.tails(run.config.plan.rounds), ledger.delta());
    });
    return ledger;
}

/// The history with the next phase.
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
    history.scaling = run.config.task.known_scaling;
    return history;
}

}  // namespace

ResumedRun resumed_run(const Resumption& resumption, const Membership& members) {
    return {resumption.round,
            resumption.repeated,
            resumption.key_epoch,
            resumption.going_on.has_value(),
            resumption.finish,
            members.gone()};
}

namespace {

/// Maps labels of a graph file to agents; empty if the labels are the agents' numbers.
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

/// " of 5 exchanges (chebyshev) in nibble"; empty where messages are not mixed.
std::string exchanges_text(const Run& run) {
    if (run.plan.aggregation != Aggregation::gossip) return {};
    const int exchanges = exchanges_of(run.phase);
    return fmt::format(
        " of {} exchange{} ({}) in {}",
        exchanges,
        exchanges == 1 ? "" : "s",
        name_of(run.phase.gossip),
        message_precisions.name_of(run.config.precision.value_or(MessagePrecision::float64)));
}

/// What the tuning rule chose, or why it is not used; empty if nothing was left to it.
std::string tuning_line(const PreparedRun& prepared) {
    const Tuning& tuning = prepared.tuning;
    if (!tuning.why_not.empty()) return fmt::format("tuning     off {}\n", tuning.why_not);
    if (!tuning.active) return {};
    const AskedPlan& plan = prepared.run.config.plan;
    const std::string rounds =
        fmt::format("{} rounds{}, batches of {}",
                    plan.rounds,
                    exchanges_text(prepared.run),
                    plan.batch_size.number
                        ? fmt::format("{}", *plan.batch_size.number)
                        : fmt::format("{:g}% of an agent's records", 100 * plan.batch_size.share));
    if (plan.open.measured())
        return fmt::format(
            "tuning     {}; clip and steps follow from norms of gradients, measured in "
            "a round that spends {:g}% of the budget (mu^2)\n",
            rounds,
            100 * survey_of_norms.share);
    if (tuning.usual_norms)
        return fmt::format(
            "tuning     {}; clip {:.3g} and mean step {:.3g} are for usual gradients: with so few "
            "records at this epsilon, noise would hide how long they are\n",
            rounds,
            plan.clip_norm,
            plan.steps.step_size);
    if (!tuning.measured.norms) return fmt::format("tuning     {}\n", rounds);
    return fmt::format(
        "tuning     {}; clip {:.3g}, mean step {:.3g}: gradients have norms about "
        "{:.2g}, measured in a round that spent {:g}% of the budget (mu^2)\n",
        rounds,
        plan.clip_norm,
        plan.steps.step_size,
        tuning.norm,
        100 * survey_of_norms.share);
}

/// Text on how the run was resumed and what was read.
std::string beginning_of(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    std::string text;
    if (prepared.resumption)
        text = resumption_text(resumed_run(*prepared.resumption, run.members),
                               prepared.resumption->notes);
    if (!run.shape.labels.empty())
        text += fmt::format("classes    {}\n",
                            classes_text(label_texts(run.shape.table, run.shape.labels)));
    text += agents_line(run) + tuning_line(prepared);
    for (const std::string& line : run.understood) text += fmt::format("data       {}\n", line);
    return text;
}

/// Writes the texts for users on process 0.
void put_into_words(PreparedRun& prepared) {
    const Run& run = prepared.run;
    prepared.words = plan_words(
        *prepared.planned, run.config.plan, prepared.budgets, prepared.ledger.record().unit_column);
    prepared.outline = beginning_of(prepared) + fmt::format("plan       {}\n", prepared.words.plan);
    prepared.report =
        beginning_of(prepared) + plan_report_text(*prepared.planned,
                                                  run.phase,
                                                  prepared.exposures,
                                                  prepared.budgets,
                                                  statements_of(prepared.ledger.record()));
    // Canaries of an audit are meant to be found: nobody uses the models.
    if (!prepared.coordinates)
        prepared.warnings = warnings_before_rounds(run, std::ssize(prepared.initial));
}

/// Exact derivatives reveal nothing new to ranks that all read the same data.
bool asks_for_optimality_gap(const TrainConfig& config,
                             const Network& network,
                             Eigen::Index dimension) {
    return config.optimality_gap.value_or(
        cheap_minimum(network.agents(), dimension) &&
        (network.processes() == 1 || !one_file_an_agent(config.task)));
}

PlanInputs inputs_of(const TrainConfig& config, const Participants& there, const LocalTask& task) {
    return {.topography = there.topography,
            .records = task.records,
            .dimension = static_cast<long>(task.initial.size()),
            .precision = expected_precision(config, there.topography, task.fixed_inputs),
            .rounds_alone = config.asks_about_rounds_alone(),
            .secure_sum = config.secure_sum,
            .designed_mixing = is_optimised(config.graph),
            .l2 = config.l2};
}

/// Numbers that are summed for the moments of columns; 0: none.
Eigen::Index moments_of(const LocalTask& task) {
    return task.moments.empty() ? 0 : task.moments.front()->dimension();
}

/// Chooses everything that config.plan leaves open. COLLECTIVE.
/// @param tuning what was chosen before.
PlanChoices settle_plan(TrainConfig& config,
                        Network& network,
                        const Participants& there,
                        const LocalTask& task,
                        const Tuning& tuning) {
    PlanInputs inputs = inputs_of(config, there, task);
    inputs.bytes_before = bytes_of_surveys(
        there.topography, tuning.measured, moments_of(task), survey_precision(config));
    if (inputs.precision == MessagePrecision::nibble)
        config.plan.variance_cap = std::min(config.plan.variance_cap, variance_cap_of_nibbles);
    Settlement settlement = settle(config.plan, inputs, network, there.solves);
    // config.ini keeps `auto` where there is no temporal factor.
    const bool without_factor = config.plan.open.temporal && !leaves_shape_open(config.plan);
    static_cast<PlanConfig&>(config.plan) = std::move(settlement.plan);
    // Clip and steps stay open until they are measured.
    config.plan.open = {.temporal = without_factor,
                        .clip_norm = config.plan.open.clip_norm,
                        .step_size = config.plan.open.step_size};
    if (settlement.choices.gossip.candidates.empty()) settlement.choices.gossip = tuning.exchanges;
    return std::move(settlement.choices);
}

/// Columns whose moments are to be learnt; 0: none.
Eigen::Index columns_to_learn(const LocalTask& task) { return moments_of(task) / 2; }

TuningWishes wishes_of(const TrainConfig& config,
                       const Participants& there,
                       const LocalTask& task,
                       bool handed) {
    TuningWishes wishes;
    wishes.columns = columns_to_learn(task);
    wishes.classes = task.has_records && !handed && task.shape.target != Target::value;
    wishes.obstacle = obstacle_to_surveys(config.plan, there.topography);
    wishes.no_rule = obstacle_to_rule(config.plan);
    if (config.secure_sum) wishes.obstacle = "with --secure-sum on, where agents learn sums only";
    if (!config.views.empty())
        wishes.obstacle = "with --view, whose figures are of the rounds alone";
    if (config.task.feature_norm) wishes.obstacle = "with --feature-norm, which limits steps";
    if (!task.has_records || task.fixed_inputs || task.coordinates || task.rows_are_rounds)
        wishes.no_rule =
            fmt::format("with task {}, whose gradients are not those of records", config.task.task);
    if (handed && !config.plan.tune)
        wishes.no_rule = "by default where a program computes the gradients";
    return wishes;
}

/// Chooses rounds and batches that are left to the tuning rule, and before them exchanges, and what
/// is measured. COLLECTIVE.
Tuning tune(TrainConfig& config,
            Network& network,
            const Participants& there,
            LocalTask& task,
            bool handed) {
    constexpr const char* by_moments =
        "Columns of numbers are cut to bounds that are public (--bounds), and standardised by mean "
        "and deviation of all agents' records as far as noise shows them. These are learnt in a "
        "round of their own, whose noise protects records, and every epsilon here counts it.";
    constexpr const char* by_bounds =
        "Columns of numbers are cut to bounds that are public (--bounds) and scaled by them alone: "
        "there are so few records that noise would hide their means and deviations, so nothing was "
        "spent on these.";
    const TuningWishes wishes = wishes_of(config, there, task, handed);
    GossipChoice exchanges;
    if (config.plan.open.tuned() && wishes.obstacle.empty() && wishes.no_rule.empty()) {
        constexpr Eigen::Index values_of_a_packet = 180;  // as float64; fewer bytes save no time
        if (config.usual_precision && task.initial.size() > values_of_a_packet)
            config.precision.reset();
        exchanges = settle_exchanges(
            config.plan, inputs_of(config, there, task), !config.precision, network, there.solves);
        config.precision = exchanges.precision;
    }
    Tuning tuning =
        settle_tuning(config.plan, wishes, there.topography, task.records, network, there.solves);
    tuning.exchanges = std::move(exchanges);
    if (columns_to_learn(task) == 0) return tuning;
    task.statements.emplace_back(tuning.measured.moments ? by_moments : by_bounds);
    if (tuning.measured.moments) return tuning;
    task.moments.clear();
    config.task.known_scaling = scaling_by_bounds(task.shape.table.value(), config.task.table);
    return tuning;
}

/// The handshake on everything that was agreed. COLLECTIVE.
Run shake_hands(const TrainConfig& config,
                Network& network,
                Participants there,
                const AgreedPhase& phase,
                const LocalTask& task,
                std::uint32_t key_epoch,
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
            .key_epoch = key_epoch,
            .optimality_gap = asks_for_optimality_gap(config, network, task.initial.size()),
            .resumable = resumable,
            .credentials = std::move(there.credentials),
            .session = std::move(session)};
}

/// @throws ConfigError naming an option that agents cannot use if they know only their neighbours.
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

/// @throws ConfigError if private data would have to leave their agents, or another program
/// computes the gradients.
void require_possible_baseline(const TrainConfig& config, const Network& network, bool handed) {
    if (!config.baseline || (network.processes() == 1 && !handed)) return;
    throw ConfigError(fmt::format(
        "baseline: on is not possible {} (allowed: off)",
        handed ? "where a program computes gradients"
               : "over MPI, where private data would have to leave their agents; without mpirun "
                 "all agents are in one process"));
}

/// Agents that know only their neighbours exchange them. COLLECTIVE.
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

/// Checks that all processes read the same data as process 0, and commits each local agent to its
/// own data; in a resumed run the commitment is that of its checkpoint. COLLECTIVE.
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

/// COLLECTIVE.
void open_job(TrainConfig& config, Network& network, bool handed) {
    network.watch_for_stalls(
        stall_limits(config.stall_abort_seconds, network.process_name(), patience_outside_rounds));
    verify_same_options(network, config);
    network.agree([&] { require_possible_baseline(config, network, handed); });
    protect_views(config, network);
    network.set_message_precision(config.precision.value_or(MessagePrecision::float64));
}

/// On process 0. COLLECTIVE.
std::optional<LedgerViews> views_of(const Run& run,
                                    const std::optional<Topography>& whole,
                                    const Ledger& ledger,
                                    bool fixed_inputs) {
    const Inputs inputs = fixed_inputs             ? Inputs::fixed
                          : ledger.record().convex ? Inputs::convex
                                                   : Inputs::adaptive;
    std::optional<LedgerViews> views;
    run.network.agree([&] {
        if (run.leader()) views.emplace(run.config, *whole, ledger.record().phases, inputs);
    });
    return views;
}

/// What a resumed run knows of its data.
void take_known(TaskConfig& task, const RunHistory& before) {
    task.known_labels = before.labels;
    task.known_features = before.features;
    task.known_table = before.table;
    task.known_scaling = before.scaling;
}

/// The history of the run that is resumed, of which the options get what it knows. COLLECTIVE.
std::optional<RunHistory> history_before(TrainConfig& config, Network& network) {
    if (!config.resume) return std::nullopt;
    RunHistory before = share_history(network, *config.resume, most_temporal_values(config.plan));
    take_known(config.task, before);
    return before;
}

/// COLLECTIVE.
LocalTask task_of(const TrainConfig& config,
                  Network& network,
                  const Membership& members,
                  const std::function<LocalTask()>& make_task) {
    if (!make_task) return build_task(config.task, network, members);
    network.agree([&] { require_given_clip(config.plan); });
    return make_task();
}

/// They are in this start's own records before anything of them is sent.
void record_surveys(Resumption& resumption, int surveys) {
    for (int k = 0; k < surveys; ++k)
        resumption.recorded.push_back(static_cast<int>(resumption.past.size()) + k);
}

/// COLLECTIVE.
void connect_agents(const Run& run, const LocalTask& task) {
    run.network.connect(run.topography.graph);
    run.network.agree([&] {
        require_possible_push_sum(run.topography, run.plan, run.config.l2);
        require_possible_exchange(run.config, run.plan);
        require_possible_misses(run);
        require_possible_lies(run);
        run.network.set_message_precision(
            settled_precision(run.config, run.plan, run.topography, task.fixed_inputs));
        require_possible_preconditioner(run);
    });
}

}  // namespace

PreparedRun prepare_run(const TrainConfig& asked,
                        Network& network,
                        const std::function<LocalTask()>& make_task,
                        TrainingListener& listener) {
    TrainConfig config = asked;
    open_job(config, network, make_task != nullptr);
    const std::optional<RunHistory> before = history_before(config, network);
    Membership members = agree_on_members(config, network, before ? &*before : nullptr);
    settle_graph(config, network, members);
    RestoredFiles restored(config.dry_run ? Stay::for_a_look : Stay::for_good,
                           config.resume ? config.resume->directory : std::string());
    std::optional<FoundCheckpoint> found;
    if (before) found = open_checkpoint(network, config, members, restored);
    Participants there = gather_participants(config, network, std::move(members));
    listener.on_preparing("reading the data");
    LocalTask task = task_of(config, network, there.members, make_task);
    std::optional<Resumption> resumption;
    if (before) {
        resumption = continue_run(
            network, config, std::move(*found), *before, there.members, there.credentials);
        start_joining_agents(*resumption, task, config);
    }
    listener.on_preparing("planning the noise");
    Tuning tuning;
    if (!resumption || !resumption->going_on)
        tuning = tune(config, network, there, task, make_task != nullptr);
    PlanChoices choices = settle_plan(config, network, there, task, tuning);
    learn_clip(config, network, task);
    AgreedPhase phase = agree_on_phase(config, network, there, task, std::move(resumption));
    const std::uint32_t key_epoch = phase.resumption ? phase.resumption->key_epoch : 0;
    if (phase.resumption) record_surveys(*phase.resumption, tuning.measured.surveys());
    if (phase.planned) phase.planned->choices = std::move(choices);
    listener.on_preparing("agreeing on keys and checking every agent's protection");
    auto built = there.built;
    const auto whole = there.whole;
    Run run = shake_hands(config,
                          network,
                          std::move(there),
                          phase,
                          task,
                          key_epoch + static_cast<std::uint32_t>(tuning.measured.surveys()),
                          (!make_task || task.resumable) && phase.protected_views.empty());
    agree_on_data(run, phase, std::move(task.digests));
    std::vector<Survey> surveys = agree_on_surveys(run, phase, task, tuning.measured, key_epoch);
    std::vector<LocalAgent> agents =
        build_agents(run, std::move(task.objectives), task.rows_are_rounds, phase.exposures);
    connect_agents(run, task);
    Ledger ledger = open_ledger(run, phase, surveys, task, agents);
    RunHistory history = history_with(run, ledger, before);
    if (!surveys.empty()) history.phases.pop_back();
    std::optional<LedgerViews> views = views_of(run, whole, ledger, task.fixed_inputs);
    PreparedRun prepared{.run = std::move(run),
                         .built = std::move(built),
                         .planned = std::move(phase.planned),
                         .agents = std::move(agents),
                         .initial = std::move(task.initial),
                         .coordinates = task.coordinates,
                         .ledger = std::move(ledger),
                         .views = std::move(views),
                         .history = std::move(history),
                         .resumption = std::move(phase.resumption),
                         .surveys = std::move(surveys),
                         .moments = std::move(task.moments),
                         .records = std::move(task.records),
                         .tuning = tuning,
                         .exposures = std::move(phase.exposures),
                         .budgets = std::move(phase.budgets)};
    if (prepared.run.leader()) put_into_words(prepared);
    return prepared;
}

void take_step(PreparedRun& prepared, const TunedStep& step) {
    Run& run = prepared.run;
    AskedPlan& plan = run.config.plan;
    const double factor = step.clip_norm / plan.clip_norm;
    run.network.agree([&] {
        plan.open.clip_norm = plan.open.step_size = false;
        plan.clip_norm = run.phase.clip_norm = step.clip_norm;
        plan.steps.step_size = run.phase.steps.step_size = step.step_size;
        run.plan = scaled(std::move(run.plan), factor);
        for (Exposure& exposure : prepared.exposures) exposure.sensitivity *= factor;
        if (prepared.planned) prepared.planned->design.plan = run.plan;
    });
    verify_agreement(run.network,
                     run.topography,
                     run.plan,
                     prepared.exposures,
                     prepared.budgets,
                     coalition_size_of(run.phase, run.plan.agents, &run.plan));
    run.network.agree([&] {
        PrivacyRecord record = prepared.ledger.record();
        PrivacyPhase& now = record.phases.back();
        now.plan = run.plan;
        now.use.steps = run.phase.steps;
        for (double& sensitivity : now.sensitivity) sensitivity *= factor;
        prepared.history.phases.push_back(now);
        prepared.ledger = Ledger(std::move(record));
        if (run.leader()) put_into_words(prepared);
    });
}

namespace {

/// @throws ConfigError for options that make no sense with the task.
void require_possible_with(const LocalTask& task, const TrainConfig& config) {
    if (!task.has_records && !protects_agents(config.plan.adjacency))
        throw ConfigError(
            fmt::format("adjacency: '{}' needs a task with records; task '{}' has none (allowed: "
                        "agent, agent-zero-out)",
                        name_of(config.plan.adjacency),
                        config.task.task));
    require_possible_updates(config, task);
    if (task.l2 && config.l2 != *task.l2)
        throw ConfigError(
            fmt::format("l2: {} is not possible with task '{}', whose models would not converge to "
                        "what it estimates (allowed: {})",
                        config.l2,
                        config.task.task,
                        *task.l2));
}

/// Where noise depends on the receiver, an agent's own copy of its message carries contributions
/// from round to round, times 1 - eta_t l2. run_sensitivity_squared is a bound while the modulus of
/// this factor is at most 1. @throws ConfigError otherwise.
void require_fading_contributions(const TrainConfig& config, const NoisePlan& plan) {
    if (config.l2 == 0 || plan.same_message_to_all()) return;
    const std::vector<double> steps = config.plan.steps.over(config.plan.rounds);
    const double largest = *std::ranges::max_element(steps);
    if (largest * config.l2 > 2)
        throw ConfigError(fmt::format(
            "l2: {} with step size {} would make contributions grow from round to round, which "
            "the guarantee of mechanism {} does not count (allowed: up to 2 / step size, {:.6g})",
            config.l2,
            largest,
            plan.mechanism,
            2 / largest));
}

std::vector<PrivacyBudget> budgets_of(const std::vector<PrivacyBudget>& run_budgets,
                                      const Membership& members) {
    std::vector<PrivacyBudget> budgets;
    for (const int number : members.numbers)
        budgets.push_back(run_budgets[static_cast<std::size_t>(number)]);
    return budgets;
}

/// Converts budgets for secretly sampled rounds: of all agents if this process plans, else of its
/// own.
/// @param survey_loss of a place, in surveys that are still to come.
void count_sampling(AgreedPhase& phase,
                    const Participants& there,
                    std::span<const int> local,
                    const std::function<PrivacyLoss(int place)>& survey_loss) {
    const std::vector<int>& all = there.members.numbers;
    std::vector<int> places(all.size());
    std::iota(places.begin(), places.end(), 0);
    std::optional<PrivacyLosses> spent;
    if (phase.resumption) spent = spent_before(*phase.resumption, phase.config, there.members);
    count_sampling(phase.budgets,
                   phase.exposures,
                   phase.config,
                   there.solves ? std::span<const int>(places) : local,
                   [&](int place, long pattern) {
                       PrivacyLoss loss =
                           spent ? spent->of(there.members.number(place), pattern) : PrivacyLoss();
                       if (phase.config.survey_share > 0) loss += survey_loss(place);
                       return loss;
                   });
}

/// Takes what surveys will spend off the budgets of rounds that are not sampled.
void leave_for_surveys(AgreedPhase& phase,
                       const std::function<PrivacyLoss(int place)>& survey_loss) {
    if (phase.config.participation.is_secret()) return;
    for (std::size_t place = 0; place < phase.budgets.size(); ++place) {
        PrivacyLoss& limit = phase.budgets[place].limit;
        const double whole = limit.mu().value_or(0);
        const double survey = survey_loss(static_cast<int>(place)).mu().value_or(0);
        limit = PrivacyLoss::gaussian(std::sqrt(std::max(whole * whole - survey * survey, 0.0)));
    }
}

/// Adds exposures and budgets of the phase, and `planned` on processes that plan. LOCAL.
/// @param local places of this process.
AgreedPhase plan_for(AgreedPhase phase,
                     const TrainConfig& config,
                     const Participants& there,
                     const LocalTask& task,
                     std::span<const int> local) {
    require_possible_with(task, config);
    require_possible_persons(config, phase);
    phase.exposures = build_exposures(phase.config, there.members.size(), task.records);
    phase.run_budgets = build_budgets(config.plan, there.members.all);
    phase.budgets = budgets_of(phase.run_budgets, there.members);
    const auto survey_loss = [&, whole = phase.budgets](int place) {
        return PrivacyLoss::gaussian(
            survey_mu(whole[static_cast<std::size_t>(place)], phase.config.survey_share));
    };
    if (phase.resumption) {
        require_same_task(task, *phase.resumption);
        phase.budgets = phase_budgets(std::move(phase.budgets),
                                      *phase.resumption,
                                      phase.config,
                                      there.topography,
                                      there.members);
    }
    if (phase.config.survey_share > 0) leave_for_surveys(phase, survey_loss);
    count_sampling(phase, there, local, survey_loss);
    if (!there.solves) return phase;
    phase.planned = phase.resumption && phase.resumption->going_on
                        ? kept_plan(*phase.resumption->going_on, phase.config)
                        : plan_phase(phase.config,
                                     there.topography,
                                     {phase.exposures, phase.budgets},
                                     phase.resumption.has_value());
    return phase;
}

}  // namespace

AgreedPhase agree_on_phase(const TrainConfig& config,
                           Network& network,
                           const Participants& participants,
                           const LocalTask& task,
                           std::optional<Resumption> resumption) {
    const Topography& topography = participants.topography;
    const long first_round = resumption ? resumption->first_round : 0;
    const ProtectedViews views = parse_protected_views("protect-against", config.protect_against);
    AgreedPhase phase;
    phase.config = static_cast<const PlanConfig&>(config.plan);
    phase.config.rounds = config.plan.rounds - first_round;
    phase.config.steps.first_round = first_round;
    phase.resumption = std::move(resumption);
    network.agree([&] {
        phase = plan_for(std::move(phase), config, participants, task, network.local_agents());
        if (views.partial()) fit_to_views(views, phase, config, participants);
    });
    phase.plan =
        share_plan(network,
                   phase.planned ? std::optional(phase.planned->design.plan) : std::nullopt,
                   topography.graph,
                   most_temporal_values(config.plan));
    int coalition_size = 0;
    network.agree([&] {
        require_asked_plan(phase.plan, phase.config, topography.graph);
        require_everybody_for(phase.plan, participants.members);
        coalition_size = coalition_size_of(phase.config, phase.plan.agents, &phase.plan);
        CountedPlan counted = count_plan(phase.plan,
                                         phase.config,
                                         topography,
                                         {std::move(phase.exposures), std::move(phase.budgets)});
        phase.exposures = std::move(counted.exposures);
        phase.budgets = std::move(counted.budgets);
        require_fading_contributions(config, phase.plan);
        if (views.partial())
            take_budgets_of_views(
                views, phase, config, participants, network.local_agents(), coalition_size);
    });
    verify_agreement(
        network, topography, phase.plan, phase.exposures, phase.budgets, coalition_size);
    network.agree([&] { verify_persons_protected(phase, network.local_agents(), coalition_size); });
    return phase;
}

}  // namespace sotto
