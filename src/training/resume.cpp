#include "training/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "agent/checkpoint.hpp"
#include "config/agent_path.hpp"
#include "core/bytes.hpp"
#include "core/numbers.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/copies.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"

namespace sotto {

namespace {

/// Most bytes of a history with this many phases whose plans have the largest size, or many more of
/// the usual size. Agents that left are counted too.
std::uint64_t largest_history_bytes(int agents, double most_temporal_values) {
    constexpr std::uint64_t phases = 64, head = 1024, agent = 64;
    const double receivers = static_cast<double>(agents) * agents * agents;
    const int all = 2 * agents + 64;
    return phases * (head + agent * static_cast<std::uint64_t>(all) +
                     largest_plan_bytes(all, receivers, most_temporal_values) / 2);
}

}  // namespace

RunHistory share_history(Network& network,
                         const ResumeConfig& resume,
                         double most_temporal_values) {
    ByteWriter writer;
    network.agree([&] {
        if (network.process() != 0) return;
        const RunHistory own = read_history(resume.directory);
        if (own.completed)
            throw Error(
                ExitCode::complete,
                fmt::format("--resume: the run in {} is complete ({} rounds); nothing is left to "
                            "do",
                            resume.directory,
                            own.rounds));
        writer.put_text(to_json(own));
        for (const PrivacyPhase& phase : own.phases) writer.put_text(to_json(phase.plan));
    });
    const std::string packed = network.broadcast(
        writer.take(), largest_history_bytes(network.agents(), most_temporal_values));
    RunHistory history;
    network.agree([&] {
        ByteReader reader(packed, "the history from rank 0");
        const std::string text(reader.get_text());
        std::vector<std::string> plans;
        while (!reader.done()) plans.emplace_back(reader.get_text());
        history = history_from_json(text, plans, "the history from rank 0");
    });
    return history;
}

namespace {

/// @throws DataError unless the checkpoint belongs to the run of the history.
void require_fitting(const FoundCheckpoint& found,
                     const RunHistory& history,
                     const ResumeConfig& resume,
                     std::uint64_t batch_seed) {
    const auto impossible = [&](const std::string& what) {
        return DataError(
            fmt::format("{}: its files do not fit together ({})", resume.directory, what));
    };
    if (found.sealed.phase >= static_cast<int>(history.phases.size()) ||
        found.sealed.round > history.rounds)
        throw impossible("a checkpoint of a phase the history does not know");
    for (const Checkpoint& own : found.local)
        if (own.run != history.run || own.batch_seed != batch_seed)
            throw impossible(fmt::format("agent {}'s checkpoint is of another run", own.agent));
}

/// The seeds that the local agents stored beside their checkpoints; none unless every agent of
/// every process can open its own. COLLECTIVE.
std::optional<std::vector<KeyRing>> open_seeds(const std::filesystem::path& directory,
                                               Network& network,
                                               const std::vector<Checkpoint>& local,
                                               const NoisePlan& plan,
                                               const std::optional<Credentials>& credentials) {
    std::vector<KeyRing> rings;
    bool opened = credentials.has_value();
    std::optional<AgentFiles> files;
    if (!local.empty()) files.emplace(saved_seeds_of(directory, local.front()));
    for (std::size_t a = 0; a < local.size() && opened; ++a) try {
            const int number = local[a].agent;
            rings.push_back(open_seeds_of(
                credentials->identities[a],
                sealed_seeds_from(files->read(number), files->file_of(number).string()),
                local[a],
                plan.hash(),
                network.local_agents()[a]));
        } catch (const Error&) {
            opened = false;
        }
    if (network.maximum(opened ? 0 : 1) > 0) return std::nullopt;
    return rings;
}

}  // namespace

void require_own_options(const std::vector<Checkpoint>& local, const TrainConfig& config) {
    const auto text_of = [](const OptionTexts& options, const std::string& name) {
        const auto place = options.find(name);
        return place == options.end() ? std::string("not given") : "'" + place->second + "'";
    };
    const OptionTexts now = own_options(config);
    for (const Checkpoint& own : local) {
        OptionTexts names = now;
        names.insert(own.own_options.begin(), own.own_options.end());
        for (const auto& [name, text] : names) {
            const std::string kept = text_of(own.own_options, name), asked = text_of(now, name);
            if (kept == asked || (!config.secure_sum && is_own_with_secure_sums_only(name)) ||
                std::ranges::find(config.resume->given, name) != config.resume->given.end())
                continue;
            throw NetworkError(fmt::format(
                "agent {} takes no --{} from another rank: config.ini, as rank 0 has it, has {}, "
                "its own checkpoint {}",
                own.agent,
                name,
                asked,
                kept));
        }
    }
}

namespace {

/// The identities that open copies of checkpoints. Only those given to this process itself count:
/// other options of the run may come from a peer, and nothing that they name is read yet.
std::function<Identity(std::size_t)> given_identity(const TrainConfig& config,
                                                    std::vector<int> numbers) {
    if (!config.trust ||
        std::ranges::find(config.resume->given, "identity") == config.resume->given.end())
        return {};
    return [path = config.trust->identity, numbers = std::move(numbers)](std::size_t local_index) {
        return Identity::read(path_of_agent(path, numbers[local_index]));
    };
}

/// An agent's loss is counted from its own checkpoint on, so no peer may make it start again.
/// @throws NetworkError for agents that participated before, according to files of this process.
void require_nothing_kept(const std::filesystem::path& directory, const std::vector<int>& joining) {
    const auto refuse = [](int number, const std::filesystem::path& file, const char* what) {
        throw NetworkError(
            fmt::format("agent {} is to join, but has taken part already: {} is its {}",
                        number,
                        file.string(),
                        what));
    };
    for (const std::filesystem::path& folder : checkpoint_folders(directory))
        for (const AgentFiles files = checkpoints_in(folder); const int number : joining)
            if (files.has(number)) refuse(number, files.file_of(number), "checkpoint");
    for (const int number : joining)
        if (const auto record = OwnRecord::file_in(directory, number);
            std::filesystem::exists(record))
            refuse(number, record, "record of what it has revealed");
}

/// Adds checkpoints of the local agents that join, with what is known before the task.
std::vector<Checkpoint> with_entering(std::vector<Checkpoint> kept,
                                      const Network& network,
                                      const Membership& members,
                                      const TrainConfig& config,
                                      const Checkpoint& entering) {
    for (const int place : network.local_agents()) {
        const int number = members.number(place);
        if (!std::ranges::binary_search(config.resume->joining, number)) continue;
        Checkpoint& own = kept.emplace_back(entering);
        own.agent = number;
        own.own_options = own_options(config);
    }
    std::ranges::sort(kept, {}, &Checkpoint::agent);
    return kept;
}

}  // namespace

FoundCheckpoint open_checkpoint(Network& network,
                                const TrainConfig& config,
                                const Membership& members,
                                RestoredFiles& restored) {
    const std::vector<int>& joining = config.resume->joining;
    std::vector<int> numbers, kept;
    for (const int place : network.local_agents()) numbers.push_back(members.number(place));
    std::ranges::set_difference(numbers, joining, std::back_inserter(kept));
    network.agree([&] { require_nothing_kept(config.resume->directory, joining); });
    const std::vector<std::string> notes = restore_from_copies(
        restored, config.resume->directory, network, members, given_identity(config, numbers));
    FoundCheckpoint found = find_checkpoint(config.resume->directory, network, kept);
    found.notes.insert(found.notes.begin(), notes.begin(), notes.end());
    network.agree([&] { require_own_options(found.local, config); });
    return found;
}

namespace {

/// Every agent compares the history with its own record of what it revealed, and its record with
/// what others report to have sent at the same time. COLLECTIVE.
/// @return the phases in the records.
std::vector<int> require_own_records(Network& network,
                                     const TrainConfig& config,
                                     const std::vector<Checkpoint>& local,
                                     const RunHistory& history) {
    const std::filesystem::path directory = config.resume->directory;
    std::vector<std::pair<int, std::vector<OwnPhase>>> own;
    network.agree([&] {
        std::vector<int> numbers;
        for (const Checkpoint& kept : local) numbers.push_back(kept.agent);
        const std::vector<FoundMark> marks = marks_of(directory, history.run, numbers);
        std::vector<FactsOfPhase> facts;
        for (const PrivacyPhase& phase : history.phases)
            facts.emplace_back(phase, config.plan.adjacency, config.plan.delta);
        for (const Checkpoint& kept : local) {
            const OwnRecord record = OwnRecord::read(directory, history.run, kept.agent);
            if (!record.extends(kept.revealed))
                throw DataError(fmt::format(
                    "{}: agent {}'s checkpoint of round {} says that the agent has revealed more "
                    "than this record has, or something else; put the newest record back",
                    OwnRecord::file_in(directory, kept.agent).string(),
                    kept.agent,
                    kept.round));
            own.emplace_back(kept.agent, own_phases(directory, record, marks));
            require_no_less(own.back().second, kept.agent, history, facts);
        }
    });
    require_newest(network, own, history);
    std::set<int> recorded;
    for (const auto& [number, phases] : own)
        for (const OwnPhase& phase : phases) recorded.insert(phase.phase);
    return {recorded.begin(), recorded.end()};
}

}  // namespace

Resumption continue_run(Network& network,
                        const TrainConfig& config,
                        FoundCheckpoint found,
                        const RunHistory& history,
                        const Membership& members,
                        const std::optional<Credentials>& credentials) {
    const ResumeConfig& resume = *config.resume;
    const SealedCheckpoint& sealed = found.sealed;
    const PrivacyPhase& last = history.phases.back();
    const int last_phase = static_cast<int>(history.phases.size()) - 1;
    const long begun = last.use.steps.first_round;
    const auto [newest_phase, newest_round] = found.newest;
    std::vector<int> going_on;
    std::ranges::set_difference(members.numbers, resume.joining, std::back_inserter(going_on));
    MarkedRounds marked{.run = history.run,
                        .rounds = history.rounds,
                        .phase = last_phase,
                        .numbers = last.members.numbers,
                        .going_on = std::move(going_on),
                        .until = next_checkpoint(history.checkpoint_every,
                                                 newest_phase == last_phase ? newest_round : begun,
                                                 history.rounds),
                        .local = {}};
    for (const Checkpoint& own : found.local) marked.local.push_back(own.agent);
    std::vector<int> recorded = require_own_records(network, config, found.local, history);
    network.agree([&] { require_fitting(found, history, resume, config.task.seed); });
    long sent = sent_before(resume.directory, network, marked).value_or(begun);
    if (sealed.phase == last_phase) sent = std::max(sent, sealed.round);

    Resumption result;
    bool same_keys = sealed.clean && sealed.phase == last_phase && sent == sealed.round &&
                     members.numbers == last.members.numbers;
    if (same_keys && !config.noise_seed) {
        auto rings = open_seeds(resume.directory, network, found.local, last.plan, credentials);
        same_keys = rings.has_value();
        if (rings) result.rings = std::move(*rings);
    }
    result.past = history.phases;
    result.recorded = std::move(recorded);
    result.round = sealed.round;
    result.beginning = sealed.beginning;
    result.repeated = sent - sealed.round;
    result.finish = resume.finish;
    result.totals = sealed.totals;
    Checkpoint entering;
    entering.run = history.run;
    entering.round = sealed.round;
    entering.batch_seed = config.task.seed;
    result.local = with_entering(std::move(found.local), network, members, config, entering);
    result.notes = std::move(found.notes);
    if (same_keys || resume.finish) {
        result.going_on = std::move(result.past.back());
        result.past.pop_back();
        result.key_epoch = last.key_epoch;
        result.first_round = begun;
    } else {
        result.past.back().rounds = sent - begun;
        result.key_epoch = last.key_epoch + 1;
        result.first_round = sealed.round;
    }
    return result;
}

std::string resumption_text(const ResumedRun& resumed, const std::vector<std::string>& notes) {
    std::string text = fmt::format(
        "resumed    after {} rounds, {}\n",
        resumed.round,
        resumed.finished ? std::string("where it ends, by --finish")
        : resumed.same_keys
            ? std::string("with the same keys")
            : fmt::format("with new keys (epoch {}) and a plan for what is left of the budget",
                          resumed.key_epoch));
    if (resumed.repeated > 0)
        text += fmt::format(
            "           messages of {} more round{} may have been sent before the "
            "failure: epsilon counts them{}\n",
            resumed.repeated,
            resumed.repeated == 1 ? "" : "s",
            resumed.finished ? "" : ", and they are done again");
    if (!resumed.agents_gone.empty())
        text += fmt::format("           without agent{} {}\n",
                            resumed.agents_gone.size() == 1 ? "" : "s",
                            fmt::join(resumed.agents_gone, ", "));
    for (const std::string& note : notes) text += "           " + note + "\n";
    return text;
}

void require_same_task(const LocalTask& task, const Resumption& resumption) {
    for (std::size_t a = 0; a < resumption.local.size(); ++a) {
        const Checkpoint& own = resumption.local[a];
        if (own.records != task.objectives[a]->records())
            throw DataError(fmt::format(
                "agent {}: its data have {} records, those of the checkpoint had {}; resume the "
                "run with the same data",
                own.agent,
                task.objectives[a]->records(),
                own.records));
        if (committed(own.data.key, digest_of_agent(task.digests, a)) != own.data.value)
            throw DataError(fmt::format(
                "agent {}: its files hold other records than when the run began, or in another "
                "order (by the digest in its checkpoint); resume the run with the same data",
                own.agent));
        if (own.round > 0 && own.model.size() != task.initial.size())
            throw DataError(fmt::format(
                "agent {}: the model has {} parameters, that of the checkpoint {}; resume the run "
                "with the same data and task",
                own.agent,
                task.initial.size(),
                own.model.size()));
    }
}

namespace {

/// Whether agents maintain means of their models after this many rounds (ModelMean).
bool keep_means(const PlanConfig& plan, long round) {
    const ModelAverage& average = plan.average;
    return average.kind == ModelAverage::Kind::exponential ||
           (average.kind == ModelAverage::Kind::tail &&
            round > plan.rounds - average.tail_rounds(plan.rounds));
}

}  // namespace

void start_joining_agents(Resumption& resumption,
                          const LocalTask& task,
                          const TrainConfig& config) {
    for (std::size_t a = 0; a < resumption.local.size(); ++a) {
        Checkpoint& own = resumption.local[a];
        if (!std::ranges::binary_search(config.resume->joining, own.agent)) continue;
        own.records = task.objectives[a]->records();
        own.data = commit_to_data(digest_of_agent(task.digests, a));
        if (own.round == 0) continue;
        own.model = task.initial;
        if (config.plan.momentum > 0) own.velocity.setZero(own.model.size());
        if (keep_means(config.plan, own.round)) own.mean = own.model;
    }
}

namespace {

/// The plan of the phase that ended or continues.
const NoisePlan& last_plan(const Resumption& resumption) {
    return resumption.going_on ? resumption.going_on->plan : resumption.past.back().plan;
}

}  // namespace

PrivacyLosses spent_before(const Resumption& resumption,
                           const PlanConfig& phase,
                           const Membership& members) {
    PrivacyLosses spent(members.all);
    const int colluders = coalition_size_of(phase, members.size(), &last_plan(resumption));
    for (const PrivacyPhase& past : resumption.past) spent.add(past, past.rounds, colluders);
    return spent;
}

void require_everybody_for(const NoisePlan& plan, const Membership& members) {
    if (plan.same_message_to_all() || members.size() == members.all) return;
    throw ConfigError(fmt::format(
        "--without, --spares: not possible with mechanism {}, whose contributions stay in every "
        "agent's own copy (allowed with mechanisms that send the same message to all)",
        plan.mechanism));
}

std::vector<PrivacyBudget> phase_budgets(std::vector<PrivacyBudget> budgets,
                                         const Resumption& resumption,
                                         const PlanConfig& phase,
                                         const Topography& topography,
                                         const Membership& members) {
    const NoisePlan& known = last_plan(resumption);
    require_everybody_for(known, members);
    if (known.noiseless() || phase.noise_std) return budgets;
    for (PrivacyBudget& budget : budgets)
        budget = budget_against(known.distribution(), budget, phase.delta, phase.calibration);
    const PrivacyLosses spent = spent_before(resumption, phase, members);
    const bool independent = known.same_message_to_all() && known.entry == NoiseEntry::gradient &&
                             known.temporal.kind == TemporalFactor::Kind::identity;
    return remaining_budgets(std::move(budgets),
                             spent,
                             members,
                             plan_use(phase, topography.mixing),
                             phase.rounds,
                             independent);
}

PlannedNoise plan_phase(const SettledPlan& phase,
                        const Topography& topography,
                        const CountedRounds& counted,
                        bool resumed) {
    PlannedNoise planned = plan_noise(phase, topography, counted);
    NoisePlan& plan = planned.design.plan;
    if (!resumed || !phase.plan_file || plan.noiseless()) return planned;
    const Eigen::VectorXd squared =
        run_sensitivity_squared(plan, plan_use(phase, topography.mixing), phase.rounds);
    const Eigen::VectorXd precision =
        coalition_precision(plan, coalition_size_of(phase, plan.agents, &plan));
    double louder = 1;
    for (std::size_t u = 0; u < counted.budgets.size(); ++u) {
        const auto place = static_cast<Eigen::Index>(u);
        const double distance =
            counted.exposures[u].sensitivity * std::sqrt(squared(place) * precision(place));
        const double allowed =
            largest_squared_distance(plan.distribution(), counted.budgets[u].limit);
        louder = std::max(louder, distance / std::sqrt(allowed));
    }
    plan.scale *= louder;
    return planned;
}

PlannedNoise kept_plan(const PrivacyPhase& phase, const PlanConfig& config) {
    PlannedNoise planned;
    planned.design.plan = phase.plan;
    planned.design.objective = planned.design.lower_bound = not_a_number;
    planned.utility = config.utility;
    planned.solved = false;
    planned.kept = true;
    return planned;
}

PrivacyPhase going_on_as(const PrivacyPhase& before,
                         const PrivacyPhase& now,
                         const PlanConfig& config) {
    constexpr double rounding = 1e-9;  // for weights computed on another machine
    PrivacyPhase alike = now;
    if (alike.use.own_weights.isApprox(before.use.own_weights, rounding))
        alike.use.own_weights = before.use.own_weights;
    const FactsOfPhase of_then(before, config.adjacency, config.delta);
    const FactsOfPhase of_today(alike, config.adjacency, config.delta);
    for (const int number : now.members.numbers) {
        if (before.members.place(number) < 0)
            throw PrivacyError(fmt::format("agent {} is new in a phase that goes on", number));
        const PhaseFacts then = of_then.of(number);
        const PhaseFacts today = of_today.of(number);
        for (std::size_t k = 0; k < then.size(); ++k)
            if (then[k] != today[k])
                throw PrivacyError(fmt::format(
                    "agent {}: the phase that goes on was counted with {} {}, the options of today "
                    "say {} (go on with the options the run was started with)",
                    number,
                    then[k].first,
                    then[k].second,
                    today[k].second));
    }
    PrivacyPhase phase = before;
    phase.rounds = now.rounds;
    phase.sessions.insert(phase.sessions.end(), now.sessions.begin(), now.sessions.end());
    return phase;
}

}  // namespace sotto
