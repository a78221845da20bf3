#include "commands/audit/attack_membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "commands/audit/attack_run.hpp"
#include "run/planning.hpp"
#include "run/record_task.hpp"
#include "run/run_directory.hpp"
#include "run/task_data.hpp"
#include "run/tasks/table.hpp"
#include "sotto/agent/recorded_view.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr long fewest_records = 40;  // for a bound of epsilon: 20 of each kind in each half

/// A mean that is added up.
struct Mean {
    VectorXd sum;
    long count = 0;

    void add(const Eigen::Ref<const VectorXd>& value) {
        if (count++ == 0)
            sum = value;
        else
            sum += value;
    }
};

/// What the members know of every agent's model.
struct KnownModels {
    MatrixXd models;  // d x agents; of members anything
    std::vector<bool> heard;
};

void require_recording_of(const RecordingHeader& header,
                          std::uint64_t records,
                          const NoisePlan& plan,
                          const PlanConfig& config,
                          const fs::path& file) {
    const auto expected =
        static_cast<std::uint64_t>(config.rounds) * static_cast<std::uint64_t>(header.gossip_steps);
    if (header.plan_hash != to_hex(plan.hash()) || records != expected)
        throw DataError(fmt::format("{}: not a recording of this run", file.string()));
}

/// The position of a neighbour's weight in the mixing row of a closed neighbourhood.
Index weight_of(const RecordingHeader& header, std::size_t neighbour) {
    return static_cast<Index>(neighbour) + (header.neighbours[neighbour] > header.agent ? 1 : 0);
}

/// Reads what the view recorded in the rounds from `first` on. LOCAL.
KnownModels known_models(const fs::path& views,
                         const View& view,
                         const NoisePlan& plan,
                         const PlanConfig& config,
                         long first) {
    std::map<int, Mean> heard;
    Mean own;
    for (const int member : view.members) {
        const fs::path file = views / std::to_string(member) / "view.bin";
        RecordedViewReader reader(file);
        const ViewHeader& header = reader.header();
        require_recording_of(header, reader.records(), plan, config, file);
        for (RecordedRound record; reader.next(record);) {
            if (record.round < first || record.gossip_step > 0) continue;
            own.add(record.before);
            if (header.received != Received::messages) continue;
            for (std::size_t j = 0; j < header.neighbours.size(); ++j)
                if (record.mixing_row(weight_of(header, j)) != 0)
                    heard[header.neighbours[j]].add(record.received.col(static_cast<Index>(j)));
        }
    }
    if (view.kind == View::Kind::all_messages)
        for (const int sender : agents_outside(view, plan.agents)) {
            const fs::path file = views / "wire" / std::to_string(sender) / "messages.bin";
            WireReader reader(file);
            require_recording_of(reader.header(), reader.records(), plan, config, file);
            for (WireRecord record; reader.next(record);)
                if (record.round >= first && record.gossip_step == 0 && record.messages.cols() > 0)
                    heard[sender].add(record.messages.col(0));
        }
    KnownModels known;
    known.heard.assign(static_cast<std::size_t>(plan.agents), false);
    for (int u = 0; u < plan.agents; ++u) {
        const auto of_agent = heard.find(u);
        const Mean& mean = of_agent == heard.end() ? own : of_agent->second;
        if (mean.count == 0)
            throw ConfigError(fmt::format("view: it shows no message of agent {}", u));
        if (u == 0) known.models.resize(mean.sum.size(), plan.agents);
        known.models.col(u) = mean.sum / static_cast<double>(mean.count);
        known.heard[static_cast<std::size_t>(u)] = of_agent != heard.end();
    }
    return known;
}

/// Rows of every label in random order.
std::map<double, std::vector<Index>> rows_by_label(const Dataset& data, SeededRandom& random) {
    std::map<double, std::vector<Index>> rows;
    for (Index row = 0; row < data.records(); ++row)
        rows[data.target == Target::label ? data.labels(row) : 0.0].push_back(row);
    for (auto& [label, list] : rows) random.shuffle(list);
    return rows;
}

/// Records of the agent and as many of the test set, label by label, in random order: what the
/// labels say about an agent is no membership.
std::pair<std::vector<Index>, std::vector<Index>> matched_rows(const Dataset& shard,
                                                               const Dataset& test,
                                                               std::uint64_t seed,
                                                               int agent) {
    SeededRandom random(seed, "membership", static_cast<std::uint64_t>(agent));
    const auto inside = rows_by_label(shard, random);
    const auto outside = rows_by_label(test, random);
    std::pair<std::vector<Index>, std::vector<Index>> chosen;
    for (const auto& [label, rows] : inside) {
        const auto others = outside.find(label);
        if (others == outside.end()) continue;
        const auto count =
            static_cast<std::ptrdiff_t>(std::min(rows.size(), others->second.size()));
        chosen.first.insert(chosen.first.end(), rows.begin(), rows.begin() + count);
        chosen.second.insert(
            chosen.second.end(), others->second.begin(), others->second.begin() + count);
    }
    random.shuffle(chosen.first);
    random.shuffle(chosen.second);
    return chosen;
}

/// Minus the loss of every record.
VectorXd scores_of(const TaskConfig& task,
                   const LocalData& data,
                   const Dataset& records,
                   const VectorXd& model) {
    const auto objective =
        make_record_objective(task, data, records, std::make_shared<const Dataset>(records));
    if (objective->dimension() != model.size())
        throw DataError(fmt::format("models of {} parameters are recorded, task '{}' has {}",
                                    model.size(),
                                    task.task,
                                    objective->dimension()));
    VectorXd scores(records.records());
    for (Index row = 0; row < scores.size(); ++row)
        scores(row) = -objective->test_loss(model, row, records.records()).loss;
    return scores;
}

/// Asks about the records of one agent. LOCAL.
MembershipFigures ask_about(int agent,
                            const AgentData& own,
                            const LocalData& data,
                            const AuditConfig& config,
                            const VectorXd& model,
                            double risk) {
    MembershipFigures figures;
    figures.target = agent;
    figures.epsilon_lower = figures.epsilon_certain = std::nan("");
    const TaskConfig& task = config.train.task;
    const auto [inside, outside] = matched_rows(own.shard, *own.test, task.seed, agent);
    figures.records = std::ssize(inside);
    if (figures.records < 2) return figures;
    const VectorXd positive = scores_of(task, data, select_rows(own.shard, inside), model);
    const VectorXd negative = scores_of(task, data, select_rows(*own.test, outside), model);
    figures.ranking = measure_ranking(positive, negative, config.level);
    if (figures.records < fewest_records) return figures;
    // Both kinds in both halves.
    VectorXd scores(2 * positive.size()), signs(2 * positive.size());
    for (Index i = 0; i < positive.size(); ++i) {
        scores.segment<2>(2 * i) << positive(i), negative(i);
        signs.segment<2>(2 * i) << 1, -1;
    }
    const double delta = config.train.plan.delta;
    figures.epsilon_lower = measure_attack(scores, signs, delta, config.level).epsilon_lower;
    figures.epsilon_certain = measure_attack(scores, signs, delta, 1 - risk).epsilon_lower;
    return figures;
}

void write(ByteWriter& writer, const MembershipFigures& figures) {
    writer.put(static_cast<std::int64_t>(figures.target));
    writer.put(static_cast<std::int64_t>(figures.records));
    for (const double value : {figures.ranking.auc,
                               figures.ranking.lower,
                               figures.ranking.upper,
                               figures.ranking.advantage,
                               figures.epsilon_lower,
                               figures.epsilon_certain})
        writer.put(value);
}

MembershipFigures read_figures(ByteReader& reader) {
    MembershipFigures figures;
    figures.target = static_cast<int>(reader.get<std::int64_t>());
    figures.records = static_cast<long>(reader.get<std::int64_t>());
    for (double* value : {&figures.ranking.auc,
                          &figures.ranking.lower,
                          &figures.ranking.upper,
                          &figures.ranking.advantage,
                          &figures.epsilon_lower,
                          &figures.epsilon_certain})
        *value = reader.get<double>();
    return figures;
}

/// Process 0's models on every process. COLLECTIVE.
MatrixXd share_models(const MatrixXd& models, int agents, Network& network) {
    ByteWriter writer;
    for (const double value : models.reshaped()) writer.put(value);
    const std::string bytes = network.broadcast(writer.take());
    MatrixXd result(static_cast<Index>(bytes.size() / sizeof(double)) / agents, agents);
    network.agree([&] {
        ByteReader reader(bytes, "the models of rank 0");
        for (double& value : result.reshaped()) value = reader.get<double>();
        reader.require_done();
    });
    return result;
}

/// What the accountant says of every agent against who sees all messages, with the members' seeds.
std::vector<Guarantee> claims(const AuditConfig& config,
                              const Topography& topography,
                              const NoisePlan& plan,
                              const View& view,
                              const std::vector<Index>& records) {
    std::vector<Exposure> exposures = build_exposures(config.train.plan, plan.agents, records);
    std::vector<PrivacyBudget> budgets = build_budgets(config.train.plan, plan.agents);
    count_plan(plan, config.train.plan, topography, exposures, budgets);
    return guarantees(plan, {view.members}, exposures, config.train.plan.delta);
}

void require_attackable(const TaskConfig& task) {
    const std::vector<std::string> allowed = task_names_where(&TaskRecord::needs_records);
    if (std::ranges::find(allowed, task.task) == allowed.end())
        throw ConfigError(fmt::format(
            "--task: '{}' is not possible with --attack membership, which needs records that "
            "were held out (allowed: {})",
            task.task,
            join(allowed, ", ")));
}

}  // namespace

MembershipResult run_membership(const AuditConfig& config,
                                Network& network,
                                TrainingListener& observer,
                                const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    const PlanConfig& plan_config = config.train.plan;
    std::optional<BuiltTopography> built;
    View view;
    network.agree([&] {
        require_confidence(config);
        require_attackable(config.train.task);
        built = build_topography(config.train.graph, plan_config.rounds);
        view = attacking_view(config, built->topography.graph);
    });
    std::string folder;
    if (config.run) {
        folder = *config.run;
    } else {
        TrainConfig train = config.train;
        train.optimality_gap = false;
        train.evaluate_every = plan_config.rounds;
        folder = run_recorded(train, view, network, observer, stop_requested, {});
    }
    MembershipResult result;
    result.averaged_rounds = (plan_config.rounds + 9) / 10;
    KnownModels known;
    std::optional<NoisePlan> plan;
    network.agree([&] {
        if (network.process() != 0) return;
        const std::string file = (fs::path(folder) / "plan.json").string();
        plan = plan_from_json(read_file(file), file);
        known = known_models(fs::path(folder) / "views",
                             view,
                             *plan,
                             plan_config,
                             plan_config.rounds - result.averaged_rounds);
    });
    const MatrixXd models = share_models(known.models, network.agents(), network);

    const std::vector<int> outside = agents_outside(view, network.agents());
    const double risk = (1 - config.level) / static_cast<double>(outside.size());
    const LocalData data =
        read_local_data(config.train.task, network, Membership::everybody(network.agents()));
    ByteWriter writer;
    network.agree([&] {
        for (std::size_t a = 0; a < data.agents.size(); ++a) {
            const int agent = network.local_agents()[a];
            writer.put(static_cast<std::int64_t>(data.agents[a].shard.records()));
            write(writer,
                  std::ranges::binary_search(outside, agent)
                      ? ask_about(agent, data.agents[a], data, config, models.col(agent), risk)
                      : MembershipFigures{.target = agent});
        }
    });
    const auto parts = network.all_gather(writer.take());
    std::string verdict;
    network.agree([&] {
        if (network.process() != 0) return;
        std::vector<Index> records;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            ByteReader reader(parts[p], fmt::format("the figures of rank {}", p));
            while (!reader.done()) {
                records.push_back(static_cast<Index>(reader.get<std::int64_t>()));
                MembershipFigures figures = read_figures(reader);
                if (std::ranges::binary_search(outside, figures.target))
                    result.targets.push_back(figures);
            }
        }
        if (std::ssize(records) != network.agents())
            throw NetworkError(fmt::format(
                "figures of {} agents arrived, there are {}", records.size(), network.agents()));
        const auto claimed = claims(config, built->topography, *plan, view, records);
        const std::vector<int> distances = distances_from_members(view, built->topography.graph);
        for (MembershipFigures& figures : result.targets) {
            const auto u = static_cast<std::size_t>(figures.target);
            figures.distance = distances[u];
            figures.heard = known.heard[u];
            figures.claim_epsilon = claimed[u].epsilon;
            figures.exceeds = figures.epsilon_certain > figures.claim_epsilon;
            if (figures.exceeds)
                result.findings.push_back(
                    fmt::format("agent {}: epsilon of a record is at least {:.4g}, the accountant "
                                "says {:.4g}",
                                figures.target,
                                figures.epsilon_certain,
                                figures.claim_epsilon));
        }
        std::ranges::stable_sort(result.targets, {}, &MembershipFigures::distance);
        result.mechanism = plan->mechanism;
        result.view = config.view;
        result.task = config.train.task.task;
        result.agents = network.agents();
        result.rounds = plan_config.rounds;
        result.adjacency = plan_config.adjacency;
        result.delta = plan_config.delta;
        result.level = config.level;
        result.seed = config.train.task.seed;
        result.run_directory = folder;
        result.consistent = result.findings.empty();
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        verdict = result.consistent ? "consistent" : "inconsistent";
        if (!config.run)
            RunDirectory::existing(folder).write("audit.json", audit_report_json(result));
    });
    if (network.broadcast(verdict) == "inconsistent") result.consistent = false;
    return result;
}

}  // namespace sotto
