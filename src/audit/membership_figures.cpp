#include "audit/membership_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audit/attack_statistics.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/seeded_random.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr long fewest_records = 40;  // for a bound of epsilon: 20 of each kind in each half

/// Rows of every label in random order.
std::map<double, std::vector<Index>> rows_by_label(const Dataset& data, SeededRandom& random) {
    std::map<double, std::vector<Index>> rows;
    for (Index row = 0; row < data.records(); ++row)
        rows[data.target == Target::label ? data.labels(row) : 0.0].push_back(row);
    for (auto& [label, list] : rows) random.shuffle(list);
    return rows;
}

/// Of records the agent trained on, and of others.
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

/// Both kinds in turn, so that there are as many of both in both halves: scores and signs.
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

std::vector<AskedAgent> share_figures(const std::vector<AskedAgent>& own, Network& network) {
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
