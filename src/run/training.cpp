#include "run/training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <thread>

#include "run/error_line.hpp"
#include "run/ledger_views.hpp"
#include "run/manifest.hpp"
#include "run/plan_report.hpp"
#include "run/rank_figures.hpp"
#include "run/recorders.hpp"
#include "run/resume.hpp"
#include "run/resumed_phase.hpp"
#include "run/run_checkpoints.hpp"
#include "run/run_directory.hpp"
#include "run/task.hpp"
#include "run/training_loop.hpp"
#include "run/transport.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/ledger_json.hpp"
#include "sotto/trust/group_seeds.hpp"
#include "sotto/trust/secure_sum.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double bytes_per_mib = 1024.0 * 1024.0;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<LocalAgent> build_agents(const TrainConfig& config,
                                     Network& network,
                                     LocalTask& task,
                                     const Membership& members,
                                     const std::vector<Exposure>& exposures) {
    std::vector<LocalAgent> agents;
    const auto local = network.local_agents();
    for (std::size_t a = 0; a < local.size(); ++a) {
        const int id = local[a];
        const Eigen::Index records = task.objectives[a]->records();
        const int number = members.number(id);
        const Exposure& exposure = exposures[static_cast<std::size_t>(id)];
        if (task.rows_are_rounds) {
            agents.push_back({id,
                              std::move(task.objectives[a]),
                              BatchSampler::in_order(records),
                              exposure.batch_size,
                              number});
            continue;
        }
        // Adjacency agent does not depend on the batch, so a small shard may use all it has.
        const Eigen::Index batch = std::min(records, exposure.batch_size);
        const long cycle = config.plan.participation.cycle;
        agents.push_back({id,
                          std::move(task.objectives[a]),
                          cycle > 1 || batch == records  // all records: a cycle of one batch
                              ? BatchSampler::cyclic(records, cycle, config.task.seed, number)
                              : BatchSampler::uniform(records, batch, config.task.seed, number),
                          exposure.batch_size,
                          number});
    }
    return agents;
}

/// Where noise depends on the receiver, an agent's own copy of its message carries contributions on
/// from round to round, times 1 - eta_t l2: run_sensitivity_squared bounds that while it is at most
/// 1. @throws ConfigError otherwise.
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

/// Key rings for estimating time: throw-away keys, nothing drawn from them is ever sent.
std::vector<KeyRing> throw_away_rings(Network& network, const NoisePlan& plan) {
    const auto groups = groups_of_agents(plan);
    std::vector<KeyRing> rings;
    for (const int agent : network.local_agents()) {
        KeyRing& ring = rings.emplace_back(agent);
        for (const int group : groups[static_cast<std::size_t>(agent)])
            ring.add(group, SecretKey::random());
    }
    return rings;
}

/// The roster, and the identity of each agent of this process. LOCAL.
std::optional<Credentials> read_credentials(const TrainConfig& config,
                                            const Network& network,
                                            const Membership& members) {
    if (!config.trust) return std::nullopt;
    Credentials credentials{Roster::read(config.trust->roster), {}};
    for (const int agent : network.local_agents()) {
        std::string path = config.trust->identity;
        for (std::size_t at = path.find("%r"); at != std::string::npos; at = path.find("%r", at))
            path.replace(at, 2, std::to_string(members.number(agent)));
        credentials.identities.push_back(Identity::read(path));
    }
    return credentials;
}

std::int64_t most_past_bytes(const TrainConfig& config) {
    return static_cast<std::int64_t>(config.past_noise_mib * bytes_per_mib);
}

RunEstimate estimate_run(const TrainConfig& config,
                         Network& network,
                         const Topography& topography,
                         const NoisePlan& plan,
                         std::vector<LocalAgent>& agents,
                         const Eigen::VectorXd& initial) {
    const auto count = static_cast<Eigen::Index>(agents.size());
    NoiseSource noise(
        plan, throw_away_rings(network, plan), config.threads, most_past_bytes(config));
    Eigen::MatrixXd vectors = Eigen::MatrixXd::Zero(initial.size(), count);
    Eigen::MatrixXd messages =
        Eigen::MatrixXd::Zero(initial.size(), static_cast<Eigen::Index>(noise.outputs().size()));
    const auto outgoing = outgoing_messages(noise.outputs(), messages, agents.size());
    const int repetitions = static_cast<int>(std::min(5L, config.plan.rounds));
    RunEstimate estimate;
    estimate.past_noise_again = noise.draws_past_again(initial.size());
    // An average round, where the past is drawn again.
    const long first_round =
        estimate.past_noise_again
            ? std::min<long>(noise.lags(), config.plan.rounds - repetitions) / 2
            : 0;
    (void)network.maximum(0);  // start together
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
        for (Eigen::Index a = 0; a < count; ++a) {
            LocalAgent& agent = agents[static_cast<std::size_t>(a)];
            agent.objective->mean_gradient(
                initial, agent.batches.rows(static_cast<std::uint64_t>(i)), vectors.col(a));
        }
        noise.draw(0, static_cast<std::uint64_t>(std::max(0L, first_round) + i), messages);
        network.exchange({i, 0}, outgoing, initial.size(), [](auto, auto, auto, auto) {});
    }
    estimate.seconds_per_round = network.maximum(since(start)) / repetitions;
    std::int64_t received = 0;
    if (network.processes() > 1)
        for (const auto& agent : agents) received += topography.graph.degree(agent.id);
    estimate.memory_mib =
        network.maximum(static_cast<double>(
            Trainer::memory_bytes(initial.size(), count, messages.cols(), received) +
            noise.memory_bytes(initial.size()))) /
        bytes_per_mib;
    return estimate;
}

/// The bootstrap may read large files and solve a large plan: as many times what a round may take.
constexpr int bootstrap_patience = 10;

}  // namespace

Bootstrap parse_bootstrap(std::string_view option, std::string_view text) {
    constexpr NameTable<Bootstrap, 2> table{
        {{{Bootstrap::central, "central"}, {Bootstrap::distributed, "distributed"}}}};
    return table.parse(option, text);
}

TrainResult run_training(const TrainConfig& config,
                         Network& network,
                         TrainingObserver& observer,
                         const std::function<bool()>& stop_requested,
                         const std::function<LocalTask()>& make_task) {
    const auto start = Clock::now();
    const bool leader = network.process() == 0;
    TrainResult result;
    result.agents = network.agents();
    result.processes = network.processes();
    result.delta = config.plan.delta;
    result.dry_run = config.dry_run;

    StallLimits stalls{
        config.stall_warn_seconds,
        bootstrap_patience * config.stall_abort_seconds,
        fmt::format("{} times --stall-abort {:g}", bootstrap_patience, config.stall_abort_seconds),
        [rank = network.process()](const std::string& line) {
            print_error_line(fmt::format("rank {}: {}", rank, line));
        }};
    network.watch_for_stalls(stalls);
    verify_same_options(network, config);
    std::optional<RunHistory> history;
    if (config.resume) history = share_history(network, *config.resume);
    Membership members;
    network.agree([&] {
        members = history ? members_without(*history, config.resume->without)
                          : Membership::everybody(network.agents());
        require_agents_for(members, network);
    });

    // Bootstrap: process 0 builds what is public, or every process does; everybody checks it.
    const bool builds = leader || config.bootstrap == Bootstrap::distributed;
    std::optional<BuiltTopography> built;
    std::optional<Topography> whole;  // of all agents of the run
    std::optional<Credentials> credentials;
    network.agree([&] {
        require_positive("step-size", config.plan.steps.step_size);
        require_positive("clip-norm", config.plan.clip_norm);
        require_in_range("l2", config.l2, 0, 1e6);
        require_in_range("eval-every", static_cast<double>(config.evaluate_every), 0, 1e12);
        require_in_range("checkpoint-every", static_cast<double>(config.checkpoint_every), 0, 1e12);
        require_in_range("rounds", static_cast<double>(config.plan.rounds), 1, 1e12);
        require_in_range(
            "batch-size", static_cast<double>(config.plan.batch_size.value_or(1)), 1, 1e12);
        credentials = read_credentials(config, network, members);
        require_in_range("mask-partners", config.mask_partners, 1, 1e9);
        require_in_range("past-noise-memory", config.past_noise_mib, 0, 1e9);
        for (const int agent : config.record_views)
            require_in_range("record-view", agent, 0, members.all - 1);
        if (!builds) return;
        built = build_topography(config.graph, config.plan.rounds);
        if (built->topography.graph.agents() != members.all)
            throw ConfigError(fmt::format(
                "agents: the graph ({}) has {}, but there are {} {}",
                built->description,
                built->topography.graph.agents(),
                members.all,
                network.processes() > 1 ? "MPI ranks (every rank is one agent)" : "agents"));
        whole = built->topography;
        keep_members(*built, config, members);
    });
    const Topography topography =
        share_topography(network, built ? std::optional(built->topography) : std::nullopt);
    LocalTask task = make_task ? make_task() : build_task(config.task, network, members);
    std::optional<Resumption> resumption;
    if (history) resumption = take_up(network, config, *history, members, credentials);

    // The phase to come, or to go on with.
    const long first_round = resumption ? resumption->first_round : 0;
    PlanConfig phase_plan = config.plan;
    phase_plan.rounds = config.plan.rounds - first_round;
    phase_plan.steps.first_round = first_round;
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> run_budgets, budgets;
    std::optional<PlannedNoise> planned;
    network.agree([&] {
        if (!task.has_records && config.plan.adjacency != Adjacency::agent)
            throw ConfigError(fmt::format(
                "adjacency: '{}' needs a task with records; task '{}' has none (allowed: agent)",
                name_of(config.plan.adjacency),
                config.task.task));
        if (task.l2 && config.l2 != *task.l2)
            throw ConfigError(fmt::format(
                "l2: {} is not possible with task '{}', whose models would not come to what it "
                "estimates (allowed: {})",
                config.l2,
                config.task.task,
                *task.l2));
        exposures = build_exposures(phase_plan, network.agents(), task.records);
        run_budgets = build_budgets(config.plan, members.all);
        for (const int number : members.numbers)
            budgets.push_back(run_budgets[static_cast<std::size_t>(number)]);
        if (resumption) {
            require_same_task(task, *resumption);
            complete_phases(*resumption, config.plan, topography);
            budgets =
                phase_budgets(std::move(budgets), *resumption, phase_plan, topography, members);
        }
        if (builds && !(resumption && resumption->going_on))
            planned =
                plan_phase(phase_plan, topography, exposures, budgets, resumption.has_value());
        else if (builds)
            planned = kept_plan(*resumption->going_on, phase_plan);
    });
    const NoisePlan plan =
        share_plan(network, planned ? std::optional(planned->design.plan) : std::nullopt);
    int coalition_size = 0;
    network.agree([&] {
        coalition_size = coalition_size_of(phase_plan, plan.agents, &plan);
        CountedPlan counted = count_plan(plan, phase_plan, topography, exposures, budgets);
        exposures = std::move(counted.exposures);
        budgets = std::move(counted.budgets);
        require_fading_contributions(config, plan);
    });
    verify_agreement(network, topography, plan, exposures, budgets, coalition_size);
    Session session =
        open_session(network, topography, plan, credentials ? &*credentials : nullptr);
    result.mechanism = plan.mechanism;
    if (planned) result.plan_seconds = planned->seconds;
    std::vector<LocalAgent> agents = build_agents(config, network, task, members, exposures);
    network.connect(topography.graph);
    network.agree([&] {
        if (config.secure_sum) require_summable(plan);
        if (config.record_wire && plan.aggregation == Aggregation::trusted_mean)
            throw ConfigError(fmt::format(
                "record-view: eavesdropper is not possible with mechanism {}, where messages go to "
                "a trusted aggregator and not from agent to agent (allowed: agents)",
                plan.mechanism));
    });
    PrivacyRecord record;
    record.budgets = budgets;
    record.adjacency = config.plan.adjacency;
    record.rounds = config.plan.rounds;
    record.reproducible_noise = config.noise_seed.has_value();
    record.authentication = session.authentication();
    PrivacyPhase phase =
        first_phase(plan, exposures, plan_use(phase_plan, topography.mixing), phase_plan.rounds);
    const std::uint32_t key_epoch = resumption ? resumption->key_epoch : 0;
    if (resumption) {
        for (int place = 0; place < members.size(); ++place)
            if (config.plan.noise_std)
                run_budgets[static_cast<std::size_t>(members.number(place))] =
                    budgets[static_cast<std::size_t>(place)];
        record.budgets = run_budgets;
        record.phases = resumption->past;
        phase.members = members;
        phase.key_epoch = key_epoch;
        network.agree([&] { require_counted(*resumption, plan.coalition_size); });
        result.rounds = resumption->round;
        result.resumed = ResumedRun{resumption->round,
                                    resumption->repeated,
                                    key_epoch,
                                    resumption->going_on.has_value(),
                                    members.gone()};
    }
    record.phases.push_back(std::move(phase));
    // Exact derivatives tell nothing new to ranks that all read the same data.
    const bool optimality_gap =
        config.optimality_gap.value_or(network.processes() == 1 || !one_file_an_agent(config.task));
    record.more_statements =
        transport_statements(config, network, topography.graph, plan, optimality_gap);
    std::ranges::copy(task.statements, std::back_inserter(record.more_statements));
    Ledger ledger(std::move(record));
    std::optional<LedgerViews> views;
    network.agree([&] {
        if (leader) views.emplace(config, *whole, ledger.record().phases, task.fixed_inputs);
    });
    std::string report =
        leader ? plan_report_text(
                     *planned, phase_plan, exposures, budgets, statements_of(ledger.record()))
               : std::string();
    if (leader && resumption) report = resumption_text(*result.resumed, *resumption) + report;
    if (config.dry_run) {
        result.estimate = estimate_run(config, network, topography, plan, agents, task.initial);
        result.mu = ledger.mu_after(config.plan.rounds);
        result.epsilon = ledger.epsilon_after(config.plan.rounds);
        result.total_seconds = since(start);
        if (leader) observer.on_start(*planned, *built, task.description, report, &result.estimate);
        return result;
    }

    std::optional<RunDirectory> directory;
    RunHistory chapters =
        history.value_or(RunHistory{session.run_id, config.plan.rounds, 0, false, {}});
    chapters.phases = ledger.record().phases;
    const int start_number = chapters.starts++;
    const bool resumable = !make_task;
    network.agree([&] {
        if (!leader) return;
        directory = resumption
                        ? RunDirectory::reopen(config.resume->directory, resumption->round)
                        : RunDirectory::create(config.run_directory.value_or(""), plan.mechanism);
        if (!resumption) directory->write("config.ini", config.resolved_ini);
        directory->write(
            numbered_file("plan", ".json", static_cast<int>(chapters.phases.size()) - 1),
            to_json(plan));
        if (resumable) directory->write("history.json", to_json(chapters));
        directory->write("ledger.json", to_json(ledger, Ledger::Status::running, result.rounds));
    });
    result.run_directory = network.broadcast(leader ? directory->path().string() : std::string());
    if (!leader) directory = RunDirectory::existing(result.run_directory);

    const std::vector<KeyRing> rings =
        config.noise_seed ? distribute_seeds(network, plan, *config.noise_seed)
        : resumption && resumption->going_on
            ? std::move(resumption->rings)
            : distribute_seeds(network, plan, session, config.threads);
    const bool encrypt = config.link_encryption && network.processes() > 1;
    std::vector<SecureSum> sums;
    Recorders recorders;
    network.agree([&] {
        if (encrypt) network.protect(session.secrets, key_epoch);
        if (config.secure_sum)
            for (PairSecrets& own : session.secrets)
                sums.emplace_back(topography.graph, own, key_epoch, config.mask_partners);
        recorders.open(config,
                       network,
                       topography.graph,
                       plan,
                       rings,
                       directory->path() / numbered_file("views", "", start_number),
                       task.initial.size(),
                       key_epoch);
    });
    const auto notes = network.all_gather(to_json(process_note(network, rings)));
    network.agree([&] {
        if (leader)
            directory->write(numbered_file("manifest", ".json", start_number),
                             manifest_json(network,
                                           topography,
                                           plan,
                                           session,
                                           credentials,
                                           members,
                                           built->description,
                                           task.description,
                                           config,
                                           notes));
    });
    if (leader) observer.on_start(*planned, *built, task.description, report, nullptr);

    TrainerOptions options;
    options.clip_norm = config.plan.clip_norm;
    options.adjacency = config.plan.adjacency;
    options.coordinates = task.coordinates;
    options.steps = config.plan.steps;
    options.l2 = config.l2;
    options.gossip_steps = config.plan.gossip_steps;
    options.key_epoch = key_epoch;
    options.first_noise_round = first_round;
    options.threads = config.threads;
    Trainer trainer(network,
                    topography.schedule(),
                    plan,
                    NoiseSource(plan, rings, config.threads, most_past_bytes(config)),
                    std::move(agents),
                    task.initial,
                    options);
    if (config.secure_sum) trainer.use_secure_sums(std::move(sums));
    if (resumption) {
        Eigen::MatrixXd models(task.initial.size(), std::ssize(resumption->local));
        for (std::size_t a = 0; a < resumption->local.size(); ++a)
            models.col(static_cast<Eigen::Index>(a)) = resumption->local[a].model;
        trainer.start_from(models);
        result.loop_seconds = resumption->totals.loop_seconds;
        result.evaluate_seconds = resumption->totals.evaluate_seconds;
    }
    recorders.observe(trainer);
    stalls.abort_seconds = config.stall_abort_seconds;
    stalls.abort_setting = fmt::format("--stall-abort {:g}", config.stall_abort_seconds);
    network.watch_for_stalls(stalls);
    try {
        RunCheckpoints checkpoints(config,
                                   network,
                                   trainer,
                                   ledger,
                                   plan,
                                   rings,
                                   credentials,
                                   *directory,
                                   {chapters.run,
                                    static_cast<int>(chapters.phases.size()) - 1,
                                    first_round,
                                    key_epoch,
                                    resumption.has_value(),
                                    resumable});
        TrainingLoop(config,
                     network,
                     observer,
                     stop_requested,
                     trainer,
                     ledger,
                     views ? &*views : nullptr,
                     *directory,
                     checkpoints,
                     result,
                     optimality_gap)
            .run();
        recorders.finish();
        for (Eigen::Index a = 0; a < trainer.models().cols(); ++a)
            directory->write_model(trainer.agents()[static_cast<std::size_t>(a)].number,
                                   trainer.models().col(a));
    } catch (const std::exception& failure) {
        // Messages of a started round may have left: the ledger keeps counting all planned rounds.
        if (leader)
            directory->write("ledger.json", to_json(ledger, Ledger::Status::failed, result.rounds));
        const std::string message =
            fmt::format("rank {}, round {}: {}", network.process(), result.rounds, failure.what());
        const bool first = directory->claim_failure(message);
        if (network.processes() == 1) throw;
        const auto* known = dynamic_cast<const Error*>(&failure);
        const ExitCode code = known != nullptr ? known->exit_code() : ExitCode::other;
        // The process that reports the failure ends the job meanwhile, unless it is cut off. (Not
        // ::sleep: the launcher's signals would wake it.)
        if (!first) std::this_thread::sleep_for(std::chrono::seconds(3));
        print_error_line(message);
        network.abort(code);
    }
    // What follows may take process 0 as long as it likes.
    network.watch_for_stalls({});
    gather_figures(network, trainer, members, result);
    result.mu = ledger.mu_after(result.rounds);
    result.epsilon = ledger.epsilon_after(result.rounds);
    result.total_seconds = since(start);
    network.agree([&] {
        if (!leader) return;
        ledger.set_views(views->after(result.rounds));
        directory->write(
            "ledger.json",
            to_json(ledger,
                    result.interrupted ? Ledger::Status::interrupted : Ledger::Status::completed,
                    result.rounds));
        directory->write("summary.json", summary_json(result, config));
        if (result.interrupted || !resumable) return;
        chapters.completed = true;
        directory->write("history.json", to_json(chapters));
    });
    return result;
}

}  // namespace sotto
