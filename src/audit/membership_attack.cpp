#include "audit/membership_attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "audit/known_models.hpp"
#include "core/bytes.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "planning/budgets.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

using Eigen::Index;

/// The accountant's guarantee of every agent against all messages and the members' seeds.
/// @param records of every agent.
std::vector<Guarantee> claims(const PlanConfig& config,
                              const AuditSubject& subject,
                              const NoisePlan& plan,
                              const std::vector<Index>& records) {
    const CountedPlan counted = count_plan(
        plan,
        config,
        subject.topography,
        {build_exposures(config, plan.agents, records), build_budgets(config, plan.agents)});
    return guarantees(plan, {subject.view.members}, counted.exposures, config.delta);
}

void require_attackable(const TaskConfig& task) {
    const std::vector<std::string> allowed{"logistic", "softmax", "mlp", "cnn"};
    if (std::ranges::find(allowed, task.task) == allowed.end())
        throw ConfigError(fmt::format(
            "--task: '{}' is not possible with --attack membership, which needs records that "
            "were held out (allowed: {})",
            task.task,
            join(allowed, ", ")));
    if (task.learns_scaling())
        throw ConfigError(
            "--standardise: private is not possible with --attack membership, which reads records "
            "again without the scaling that the training learns (allowed: none, public, or "
            "--bounds "
            "alone)");
}

std::string finding_of(const MembershipFigures& figures) {
    return fmt::format(
        "agent {}: epsilon of a record is at least {:.4g}, the accountant says {:.4g}",
        figures.target,
        figures.epsilon_certain,
        figures.claim_epsilon);
}

class MembershipAttack final : public Attack {
  public:
    using Attack::Attack;

    void gather(const std::filesystem::path& folder, Control& network) override {
        network.agree([&] {
            if (network.process() == 0) read_recordings(folder);
        });
        const TaskConfig& task = config().train.task;
        const LocalData data =
            read_local_data(task, network, Membership::everybody(network.agents()));
        Eigen::Index dimension = 0;
        network.agree([&] {
            const AgentData& own = data.agents.front();
            dimension = make_record_objective(task, data, own.shard, own.test)->dimension();
        });
        known_.models = share_models(known_.models, dimension, network);
        std::vector<AskedAgent> own;
        network.agree([&] { own = ask(data, network.local_agents()); });
        asked_ = share_figures(own, network);
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path&) const override {
        const PlanConfig& plan = config().train.plan;
        auto result = std::make_unique<MembershipResult>();
        result->mechanism = plan_->mechanism;
        result->task = config().train.task.task;
        result->averaged_rounds = averaged_rounds();
        result->adjacency = plan.adjacency;
        result->delta = plan.delta;
        result->targets = compared_targets();
        for (const MembershipFigures& figures : result->targets)
            if (figures.exceeds()) result->findings.push_back(finding_of(figures));
        std::ranges::stable_sort(result->targets, {}, &MembershipFigures::distance);
        return result;
    }

  private:
    [[nodiscard]] std::vector<int> targets() const {
        return agents_outside(subject().view, subject().topography.graph.agents());
    }
    [[nodiscard]] long averaged_rounds() const { return (config().train.plan.rounds + 9) / 10; }

    void read_recordings(const std::filesystem::path& folder) {
        const std::string file = (folder / "plan.json").string();
        plan_ = plan_from_json(read_file(file, most_plan_bytes), file);
        const long rounds = config().train.plan.rounds;
        known_ = read_known_models(folder / "views",
                                   subject().view,
                                   *plan_,
                                   config().train.plan.correction,
                                   rounds,
                                   rounds - averaged_rounds());
    }

    [[nodiscard]] std::vector<AskedAgent> ask(const LocalData& data,
                                              std::span<const int> agents) const {
        const std::vector<int> outside = targets();
        const double risk = (1 - config().level) / static_cast<double>(outside.size());
        std::vector<AskedAgent> asked;
        for (std::size_t a = 0; a < agents.size(); ++a) {
            const AgentData& own = data.agents[a];
            AskedAgent& agent = asked.emplace_back();
            agent.records = own.shard.records();
            agent.figures.target = agents[a];
            if (std::ranges::binary_search(outside, agents[a]))
                agent.figures = measure_membership(
                    agents[a], own, data, config(), known_.models.col(agents[a]), risk);
        }
        return asked;
    }

    [[nodiscard]] std::vector<MembershipFigures> compared_targets() const {
        std::vector<Index> records;
        for (const AskedAgent& agent : asked_) records.push_back(agent.records);
        const auto claimed = claims(config().train.plan, subject(), *plan_, records);
        const auto distances = distances_from_members(subject().view, subject().topography.graph);
        std::vector<MembershipFigures> result;
        for (const int target : targets()) {
            const auto u = static_cast<std::size_t>(target);
            MembershipFigures& figures = result.emplace_back(asked_[u].figures);
            figures.distance = distances[u];
            figures.heard = known_.heard[u];
            figures.claim_epsilon = claimed[u].epsilon;
        }
        return result;
    }

    std::optional<NoisePlan> plan_;  // process 0 only
    KnownModels known_;              // `heard`: process 0 only
    std::vector<AskedAgent> asked_;  // of every agent
};

std::unique_ptr<Attack> start_membership_attack(AuditConfig config,
                                                AuditSubject subject,
                                                Control& network) {
    network.agree([&] { require_attackable(config.train.task); });
    return std::make_unique<MembershipAttack>(std::move(config), std::move(subject));
}

}  // namespace

AttackRecord membership_attack() {
    return {.name = "membership",
            .help = "which records agents trained on",
            .fixed_inputs = false,
            .sampled = false,
            .options = {},
            .defaults = {},
            .start = start_membership_attack};
}

namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(double value) { return number_text(value, 3); }

struct MembershipSummary {
    long targets = 0;
    double auc_sum = 0, auc_largest = 0, advantage_sum = 0;

    [[nodiscard]] double mean_auc() const { return auc_sum / static_cast<double>(targets); }
    [[nodiscard]] double mean_advantage() const {
        return advantage_sum / static_cast<double>(targets);
    }
};

std::map<int, MembershipSummary> by_distance(const MembershipResult& result) {
    std::map<int, MembershipSummary> summaries;
    for (const MembershipFigures& figures : result.targets) {
        MembershipSummary& summary = summaries[figures.distance];
        ++summary.targets;
        summary.auc_sum += figures.ranking.auc;
        summary.auc_largest = std::max(summary.auc_largest, figures.ranking.auc);
        summary.advantage_sum += figures.ranking.advantage;
    }
    return summaries;
}

/// What the accountant's epsilon protects.
std::string claim_text(const MembershipResult& result) {
    if (protects_agents(result.adjacency))
        return fmt::format(
            "adjacency {}: the accountant's epsilon is about all records of an agent at once; it "
            "bounds what one record shows, and claims nothing closer",
            name_of(result.adjacency));
    return fmt::format("adjacency {}: the accountant's epsilon is about one record",
                       name_of(result.adjacency));
}

Json figures_json(const MembershipFigures& figures) {
    return {{"target", figures.target},
            {"distance", distance_json(figures.distance)},
            {"heard", figures.heard},
            {"records", figures.records},
            {"auc", figures.ranking.auc},
            {"auc_lower", figures.ranking.lower},
            {"auc_upper", figures.ranking.upper},
            {"advantage", figures.ranking.advantage},
            {"epsilon_lower", number_json(figures.epsilon_lower)},
            {"epsilon_theory", number_json(figures.claim_epsilon)},
            {"exceeds", figures.exceeds()}};
}

std::string distance_table(const MembershipResult& result) {
    std::string text = fmt::format("  {:>8} {:>8} {:>10} {:>10} {:>14}\n",
                                   "distance",
                                   "agents",
                                   "mean AUC",
                                   "largest",
                                   "mean advantage");
    for (const auto& [distance, summary] : by_distance(result))
        text += fmt::format("  {:>8} {:>8} {:>10.4f} {:>10.4f} {:>14.4f}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.mean_auc(),
                            summary.auc_largest,
                            summary.mean_advantage());
    return text;
}

std::string figures_line(const MembershipFigures& figures) {
    return fmt::format(
        "  {:>8} {:>8} {:>10} {:>8} {:>8.4f} {:>18} {:>10.4f} {:>12} {:>10}{}\n",
        figures.target,
        distance_text(figures.distance),
        figures.heard ? "messages" : "members",
        figures.records,
        figures.ranking.auc,
        fmt::format("{:.4f} to {:.4f}", figures.ranking.lower, figures.ranking.upper),
        figures.ranking.advantage,
        or_dash(figures.epsilon_lower),
        or_dash(figures.claim_epsilon),
        figures.exceeds() ? "  EXCEEDS" : "");
}

}  // namespace

Json MembershipResult::json() const {
    Json json = run_json(*this);
    json["averaged_rounds"] = averaged_rounds;
    json["view"] = view;
    json["adjacency"] = name_of(adjacency);
    json["targets"] = Json::array();
    for (const MembershipFigures& figures : targets)
        json["targets"].push_back(figures_json(figures));
    json["by_distance"] = Json::array();
    for (const auto& [distance, summary] : by_distance(*this))
        json["by_distance"].push_back({{"distance", distance_json(distance)},
                                       {"targets", summary.targets},
                                       {"auc_mean", summary.mean_auc()},
                                       {"auc_max", summary.auc_largest},
                                       {"advantage_mean", summary.mean_advantage()}});
    json["claim"] = claim_text(*this);
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string MembershipResult::question() const {
    return fmt::format("asks which records {} agents trained on", targets.size());
}

std::string MembershipResult::tables() const {
    std::string text = distance_table(*this);
    std::vector<MembershipFigures> best = targets;
    std::ranges::stable_sort(
        best, std::greater(), [](const MembershipFigures& f) { return f.ranking.auc; });
    best.resize(std::min(best.size(), most_table_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>8} {:>8} {:>18} {:>10} {:>12} {:>10}\n",
                        "agent",
                        "distance",
                        "model from",
                        "records",
                        "AUC",
                        fmt::format("{:g}% interval", 100 * level),
                        "advantage",
                        "eps at least",
                        "eps theory");
    for (const MembershipFigures& figures : best) text += figures_line(figures);
    if (best.size() < targets.size())
        text += fmt::format("  and {} agents with a smaller AUC\n", targets.size() - best.size());
    return text + "  " + claim_text(*this) + "\n";
}

std::string MembershipResult::agreement() const {
    return "no agent's records show more than the accountant says";
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr long fewest_records = 40;  // for a bound of epsilon: 20 of each kind in each half

std::map<double, std::vector<Index>> rows_by_label(const Dataset& data, SeededRandom& random) {
    std::map<double, std::vector<Index>> rows;
    for (Index row = 0; row < data.records(); ++row)
        rows[data.target == Target::label ? data.labels(row) : 0.0].push_back(row);
    for (auto& [label, list] : rows) random.shuffle(list);
    return rows;
}

struct Scores {
    VectorXd inside, outside;
};

Scores score(const TaskConfig& task,
             const LocalData& data,
             const AgentData& own,
             const MatchedRows& rows,
             const VectorXd& model) {
    const Dataset inside = select_rows(own.shard, rows.inside);
    const auto objective = make_record_objective(task, data, inside, nullptr);
    if (objective->dimension() != model.size())
        throw DataError(fmt::format("models of {} parameters are recorded, task '{}' has {}",
                                    model.size(),
                                    task.task,
                                    objective->dimension()));
    return {-objective->record_losses(model, inside),
            -objective->record_losses(model, select_rows(*own.test, rows.outside))};
}

/// Alternates both kinds, so that both halves have as many of each: scores and signs.
std::pair<VectorXd, VectorXd> as_trials(const Scores& scores) {
    const Index count = scores.inside.size();
    VectorXd values(2 * count), signs(2 * count);
    for (Index i = 0; i < count; ++i) {
        values.segment<2>(2 * i) << scores.inside(i), scores.outside(i);
        signs.segment<2>(2 * i) << 1, -1;
    }
    return {values, signs};
}

void write(ByteWriter& writer, const AskedAgent& agent) {
    const MembershipFigures& figures = agent.figures;
    writer.put(static_cast<std::int64_t>(agent.records));
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

AskedAgent read_agent(ByteReader& reader) {
    AskedAgent agent;
    MembershipFigures& figures = agent.figures;
    agent.records = static_cast<Index>(reader.get<std::int64_t>());
    figures.target = static_cast<int>(reader.get<std::int64_t>());
    figures.records = static_cast<long>(reader.get<std::int64_t>());
    for (double* value : {&figures.ranking.auc,
                          &figures.ranking.lower,
                          &figures.ranking.upper,
                          &figures.ranking.advantage,
                          &figures.epsilon_lower,
                          &figures.epsilon_certain})
        *value = reader.get<double>();
    return agent;
}

}  // namespace

MatchedRows match_rows(const Dataset& shard, const Dataset& test, std::uint64_t seed, int agent) {
    SeededRandom random(seed, "membership", static_cast<std::uint64_t>(agent));
    const auto inside = rows_by_label(shard, random);
    const auto outside = rows_by_label(test, random);
    MatchedRows chosen;
    for (const auto& [label, rows] : inside) {
        const auto others = outside.find(label);
        if (others == outside.end()) continue;
        const auto count =
            static_cast<std::ptrdiff_t>(std::min(rows.size(), others->second.size()));
        chosen.inside.insert(chosen.inside.end(), rows.begin(), rows.begin() + count);
        chosen.outside.insert(
            chosen.outside.end(), others->second.begin(), others->second.begin() + count);
    }
    random.shuffle(chosen.inside);
    random.shuffle(chosen.outside);
    return chosen;
}

MembershipFigures measure_membership(int agent,
                                     const AgentData& own,
                                     const LocalData& data,
                                     const AuditConfig& config,
                                     const VectorXd& model,
                                     double risk) {
    MembershipFigures figures;
    figures.target = agent;
    figures.epsilon_lower = figures.epsilon_certain = not_a_number;
    const TaskConfig& task = config.train.task;
    const MatchedRows rows = match_rows(own.shard, *own.test, task.seed, agent);
    figures.records = std::ssize(rows.inside);
    if (figures.records < 2) return figures;
    const Scores scores = score(task, data, own, rows, model);
    figures.ranking = measure_ranking(scores.inside, scores.outside, config.level);
    if (figures.records < fewest_records) return figures;
    const auto [trials, signs] = as_trials(scores);
    const double delta = config.train.plan.delta;
    figures.epsilon_lower = measure_attack(trials, signs, delta, config.level).epsilon_lower;
    figures.epsilon_certain = measure_attack(trials, signs, delta, 1 - risk).epsilon_lower;
    return figures;
}

std::vector<AskedAgent> share_figures(const std::vector<AskedAgent>& own, Control& network) {
    constexpr std::uint64_t most_agent_bytes = 128;
    ByteWriter writer;
    for (const AskedAgent& agent : own) write(writer, agent);
    const auto parts =
        network.all_gather(writer.take(), most_agent_bytes * network.most_agents_of_a_process());
    std::vector<AskedAgent> all;
    network.agree([&] {
        for (std::size_t p = 0; p < parts.size(); ++p) {
            ByteReader reader(parts[p], fmt::format("the figures of rank {}", p));
            while (!reader.done()) all.push_back(read_agent(reader));
        }
        if (std::ssize(all) != network.agents())
            throw NetworkError(fmt::format(
                "figures of {} agents arrived, there are {}", all.size(), network.agents()));
        for (int u = 0; u < network.agents(); ++u)
            if (const int target = all[static_cast<std::size_t>(u)].figures.target; target != u)
                throw NetworkError(
                    fmt::format("figures of agent {} arrived in place of agent {}", target, u));
    });
    return all;
}

}  // namespace sotto
