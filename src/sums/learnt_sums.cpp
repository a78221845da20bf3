#include "sums/learnt_sums.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numbers>
#include <utility>

#include "sums/secure_sum.hpp"

namespace sotto {

namespace {

/// What is left of a row below this share may be rounding.
constexpr double rounding = 1e-13;
/// Coefficients below this share of the largest count as zero.
constexpr double no_part = 1e-6;

using Dense = std::vector<double>;

double dot(const Dense& a, const Dense& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

void scale(Dense& row, double factor) {
    for (double& value : row) value *= factor;
}

/// Orthonormal basis of the rows added.
class SpanOfRows {
  public:
    /// False if the row says nothing new.
    bool add(Dense row) {
        const double size = std::sqrt(dot(row, row));
        if (!(size > 0)) return false;
        for (int pass = 0; pass < 2; ++pass)
            for (const Dense& known : rows_) {
                const double part = dot(known, row);
                for (std::size_t i = 0; i < row.size(); ++i) row[i] -= part * known[i];
            }
        const double left = std::sqrt(dot(row, row));
        if (!(left > rounding * size)) return false;
        scale(row, 1 / left);
        rows_.push_back(std::move(row));
        return true;
    }
    [[nodiscard]] const std::vector<Dense>& rows() const { return rows_; }

  private:
    std::vector<Dense> rows_;
};

int number_of_parts(const Dense& row) {
    double largest = 0;
    for (const double value : row) largest = std::max(largest, std::abs(value));
    return static_cast<int>(std::ranges::count_if(
        row, [&](double value) { return std::abs(value) > no_part * largest; }));
}

/// A combination of two rows vanishes for all agents with the same ratio of coefficients; it
/// consists of all others.
int fewest_parts(const Dense& first, const Dense& second) {
    std::vector<double> ratios;  // as angles in [0, pi)
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (std::hypot(first[i], second[i]) <= no_part) continue;
        double angle = std::atan2(second[i], first[i]);
        if (angle < 0) angle += std::numbers::pi;
        if (angle >= std::numbers::pi - no_part) angle -= std::numbers::pi;
        ratios.push_back(angle);
    }
    std::ranges::sort(ratios);
    std::ptrdiff_t most = 0;
    for (auto begin = ratios.begin(); begin != ratios.end();) {
        const auto end = std::upper_bound(begin, ratios.end(), *begin + no_part);
        most = std::max(most, end - begin);
        begin = end;
    }
    return static_cast<int>(std::ssize(ratios) - most);
}

/// Connected components of a receiver's honest neighbours under masks the coalition does not know.
/// @param honest of every place.
std::vector<std::vector<int>> mask_parts(const std::vector<char>& honest, int per_side) {
    const auto neighbours = static_cast<int>(honest.size());
    std::vector<std::vector<int>> parts;
    const auto colluding = std::ranges::count(honest, 0);
    if (neighbours <= 2 * per_side + 1 || colluding < 2 * per_side) {
        // See mask_partners: no neighbour can be cut off.
        std::vector<int>& all = parts.emplace_back();
        for (int place = 0; place < neighbours; ++place)
            if (honest[static_cast<std::size_t>(place)] != 0) all.push_back(place);
        return parts;
    }
    std::vector<char> left = honest;
    for (int start = 0; start < neighbours; ++start) {
        if (left[static_cast<std::size_t>(start)] == 0) continue;
        std::vector<int>& part = parts.emplace_back(1, start);
        left[static_cast<std::size_t>(start)] = 0;
        for (std::size_t next = 0; next < part.size(); ++next)
            for (const int partner : mask_partners(neighbours, part[next], per_side))
                if (left[static_cast<std::size_t>(partner)] != 0) {
                    left[static_cast<std::size_t>(partner)] = 0;
                    part.push_back(partner);
                }
    }
    return parts;
}

LearntSums summary_of(const SpanOfRows& learnt, std::vector<int> agents) {
    LearntSums result;
    const std::vector<Dense>& rows = learnt.rows();
    result.sums = static_cast<int>(rows.size());
    for (std::size_t i = 0; i < agents.size(); ++i) {
        double known = 0;
        for (const Dense& row : rows) known += row[i] * row[i];
        result.hidden.push_back(std::sqrt(std::max(0.0, 1 - known)));
    }
    result.agents = std::move(agents);
    if (!result.exposed().empty())
        result.smallest_sum = 1;
    else if (rows.size() == 1)
        result.smallest_sum = number_of_parts(rows[0]);
    else if (rows.size() == 2)
        result.smallest_sum = fewest_parts(rows[0], rows[1]);
    return result;
}

}  // namespace

std::vector<int> LearntSums::exposed() const {
    std::vector<int> found;
    for (std::size_t i = 0; i < agents.size(); ++i)
        if (hidden[i] <= exposed_share) found.push_back(agents[i]);
    return found;
}

RoundSums::RoundSums(const Graph& graph, const MixingMatrix& mixing, SumRules rules)
    : graph_(graph),
      mixing_(mixing),
      rules_(rules),
      member_(static_cast<std::size_t>(graph.agents()), 0),
      column_(static_cast<std::size_t>(graph.agents()), -1) {}

std::vector<RoundSums::Row> RoundSums::rows_of(int receiver) const {
    const auto around = graph_.heard(receiver);
    std::vector<char> honest;
    for (const int v : around) honest.push_back(outside(v) ? 1 : 0);
    std::vector<Row> rows;
    for (const std::vector<int>& part : mask_parts(honest, rules_.mask_partners)) {
        Row row;
        for (const int at : part) {
            const int sender = around[static_cast<std::size_t>(at)];
            const double weight = mixing_.weight(receiver, sender);
            if (weight != 0) row.emplace_back(sender, weight);
        }
        if (!row.empty()) rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<int> RoundSums::columns_of(const std::vector<Row>& rows) const {
    std::vector<int> agents;
    if (rules_.gossip_steps == 1) {
        for (const Row& row : rows)
            for (const auto& [agent, weight] : row) agents.push_back(agent);
        std::ranges::sort(agents);
        agents.erase(std::unique(agents.begin(), agents.end()), agents.end());
    } else {
        for (int agent = 0; agent < graph_.agents(); ++agent)
            if (outside(agent)) agents.push_back(agent);
    }
    return agents;
}

std::vector<double> RoundSums::mixed(const std::vector<double>& row,
                                     const std::vector<int>& agents) const {
    Dense result(row.size(), 0.0);
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] == 0) continue;
        const auto members = mixing_.members(agents[i]);
        const auto weights = mixing_.weights(agents[i]);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (outside(members[j]))
                result[static_cast<std::size_t>(column_[static_cast<std::size_t>(members[j])])] +=
                    row[i] * weights[j];
    }
    const double size = std::sqrt(dot(result, result));
    if (size > 0) scale(result, 1 / size);
    return result;
}

LearntSums RoundSums::learnt_by(std::span<const int> coalition) {
    for (const int agent : coalition) member_[static_cast<std::size_t>(agent)] = 1;
    std::vector<Row> rows;
    for (const int agent : coalition)
        for (Row& row : rows_of(agent)) rows.push_back(std::move(row));
    std::vector<int> agents = columns_of(rows);
    for (std::size_t i = 0; i < agents.size(); ++i)
        column_[static_cast<std::size_t>(agents[i])] = static_cast<int>(i);
    std::vector<Dense> now;
    for (const Row& row : rows) {
        Dense& dense = now.emplace_back(agents.size(), 0.0);
        for (const auto& [agent, weight] : row)
            dense[static_cast<std::size_t>(column_[static_cast<std::size_t>(agent)])] = weight;
    }
    SpanOfRows learnt;
    for (int step = 0; step < rules_.gossip_steps; ++step) {
        if (step > 0)
            for (Dense& row : now) row = mixed(row, agents);
        bool news = false;
        for (const Dense& row : now) news = learnt.add(row) || news;
        if (!news || learnt.rows().size() == agents.size()) break;
    }
    for (const int agent : agents) column_[static_cast<std::size_t>(agent)] = -1;
    for (const int agent : coalition) member_[static_cast<std::size_t>(agent)] = 0;
    return summary_of(learnt, std::move(agents));
}

namespace {

/// Products allowed for one size of coalitions.
constexpr double most_work = 2e9;
/// Cost of a coalition beside them.
constexpr double work_each = 300;
constexpr std::size_t most_near_pairs = 5'000'000;

/// Messages an agent receives, its own included, on average.
double heard_in(const MixingMatrix& mixing) {
    double heard = 0;
    for (int agent = 0; agent < mixing.agents(); ++agent)
        for (const double weight : mixing.weights(agent)) heard += weight != 0 ? 1 : 0;
    return heard / mixing.agents();
}

/// Whether the coalition exposes more messages, or as many and is first among those of its size.
bool is_worse(std::span<const int> coalition,
              std::size_t exposed,
              const std::optional<SumExample>& than) {
    if (!than || exposed != than->exposed.size()) return !than || exposed > than->exposed.size();
    return coalition.size() == than->colluders.size() &&
           std::ranges::lexicographical_compare(coalition, than->colluders);
}

class Colluders {
  public:
    Colluders(const Graph& graph, const MixingSchedule& schedule, SumRules rules)
        : graph_(graph), rules_(rules), near_(graph, 2 * rules.gossip_steps, most_near_pairs) {
        for (long round = 0; round < schedule.period(); ++round) {
            rounds_.emplace_back(graph, schedule.at(round), rules);
            mean_heard_ += heard_in(schedule.at(round)) / static_cast<double>(schedule.period());
        }
        exposed_.assign(rounds_.size(),
                        std::vector<char>(static_cast<std::size_t>(graph.agents()), 0));
    }

    /// @param before result for one colluder less, whose exposures also hold here; null for one.
    SumsAgainst against(int colluders, const SumsAgainst* before) {
        SumsAgainst found;
        found.colluders = colluders;
        if (before != nullptr && !before->computed) return found;
        if (!affordable(colluders)) return found;
        if (before != nullptr) found = *before;
        found.colluders = colluders;
        found.computed = true;
        bool counted = before == nullptr || before->smallest_sum || before->least_hidden == 1;
        near_.visit(colluders, [&](std::span<const int> coalition) {
            for (std::size_t round = 0; round < rounds_.size(); ++round)
                counted = look_at(coalition, round, found) && counted;
            return true;
        });
        if (!counted && found.smallest_sum != 1) found.smallest_sum.reset();
        found.rounds_exposed.assign(static_cast<std::size_t>(graph_.agents()), 0);
        for (const std::vector<char>& of_round : exposed_)
            for (std::size_t u = 0; u < of_round.size(); ++u)
                found.rounds_exposed[u] += of_round[u];
        return found;
    }

    /// The smallest exposing coalition among those constructed.
    std::optional<SumExample> made() {
        std::optional<SumExample> smallest;
        double work = 0;
        for (int a = 0; a < graph_.agents() && work < most_work; ++a) {
            try_all_but_one(a, smallest);
            try_mask_partners(a, smallest);
            work += work_each + graph_.degree(a);
            for (const int b : near_.near(a)) {
                if (b > a) try_pair(a, b, smallest);
                work += graph_.degree(a) + graph_.degree(b);
            }
        }
        return smallest;
    }

  private:
    [[nodiscard]] bool affordable(int colluders) const {
        const double edges = static_cast<double>(graph_.messages());
        const double agents = graph_.agents();
        const double rows = static_cast<double>(colluders) * rules_.gossip_steps;
        double each = work_each + 4 * colluders * edges / agents;
        if (rules_.gossip_steps == 1)
            each += 4 * rows * rows * colluders * mean_heard_;
        else
            each += 4 * rows * std::min(rows, agents) * agents + rows * edges;
        const double most = most_work / (each * static_cast<double>(rounds_.size()));
        double coalitions = 0;
        return near_.visit(colluders, [&](std::span<const int>) { return ++coalitions <= most; });
    }

    /// @return whether the smallest sum could be counted.
    bool look_at(std::span<const int> coalition, std::size_t round, SumsAgainst& found) {
        const LearntSums learnt = rounds_[round].learnt_by(coalition);
        for (const double hidden : learnt.hidden)
            found.least_hidden = std::min(found.least_hidden, hidden);
        std::vector<int> exposed = learnt.exposed();
        for (const int agent : exposed) exposed_[round][static_cast<std::size_t>(agent)] = 1;
        if (!exposed.empty() && is_worse(coalition, exposed.size(), found.worst))
            found.worst = SumExample{
                {coalition.begin(), coalition.end()}, std::move(exposed), static_cast<long>(round)};
        if (learnt.smallest_sum)
            found.smallest_sum =
                std::min(found.smallest_sum.value_or(graph_.agents()), *learnt.smallest_sum);
        return learnt.smallest_sum || learnt.sums == 0;
    }

    void try_coalition(std::vector<int> coalition, std::optional<SumExample>& smallest) {
        if (coalition.size() >= static_cast<std::size_t>(graph_.agents())) return;
        if (smallest && coalition.size() >= smallest->colluders.size()) return;
        std::ranges::sort(coalition);
        std::vector<int> exposed = rounds_.front().learnt_by(coalition).exposed();
        if (!exposed.empty()) smallest = SumExample{std::move(coalition), std::move(exposed), 0};
    }

    void try_all_but_one(int receiver, std::optional<SumExample>& smallest) {
        const auto around = graph_.heard(receiver);
        if (around.empty()) return;
        std::vector<int> coalition(around.begin() + 1, around.end());
        coalition.push_back(receiver);
        try_coalition(std::move(coalition), smallest);
    }

    void try_mask_partners(int receiver, std::optional<SumExample>& smallest) {
        const auto around = graph_.heard(receiver);
        if (around.empty()) return;
        std::vector<int> coalition{receiver};
        for (const int place :
             mask_partners(static_cast<int>(around.size()), 0, rules_.mask_partners))
            coalition.push_back(around[static_cast<std::size_t>(place)]);
        try_coalition(std::move(coalition), smallest);
    }

    void try_pair(int a, int b, std::optional<SumExample>& smallest) {
        std::vector<int> coalition{a, b};
        std::vector<int> only_one;
        std::ranges::set_symmetric_difference(
            graph_.heard(a), graph_.heard(b), std::back_inserter(only_one));
        std::erase_if(only_one, [&](int v) { return v == a || v == b; });
        if (only_one.empty()) return;
        coalition.insert(coalition.end(), only_one.begin() + 1, only_one.end());
        try_coalition(std::move(coalition), smallest);
    }

    const Graph& graph_;
    SumRules rules_;
    NearGroups near_;
    std::deque<RoundSums> rounds_;
    double mean_heard_ = 0;                   // agents whose message one hears in a round
    std::vector<std::vector<char>> exposed_;  // of every round and agent, so far
};

}  // namespace

SumHiding what_sums_hide(
    const Graph& graph, const MixingSchedule& schedule, SumRules rules, int asked, int further) {
    SumHiding hiding;
    hiding.agents = graph.agents();
    hiding.rounds = schedule.period();
    hiding.gossip_steps = rules.gossip_steps;
    hiding.mask_partners = rules.mask_partners;
    hiding.asked = asked;
    Colluders colluders(graph, schedule, rules);
    const int most = std::max(asked, std::min(further, graph.agents() - 1));
    bool found = false;
    for (int q = 1; q <= most; ++q) {
        const SumsAgainst* before = hiding.against.empty() ? nullptr : &hiding.against.back();
        SumsAgainst now = colluders.against(q, before);
        found = found || now.worst;
        hiding.against.push_back(std::move(now));
    }
    if (!found) hiding.known = colluders.made();
    return hiding;
}

namespace {

/// Agents at most `reach` edges away, ascending. @param seen who was seen from which agent last.
std::vector<int> agents_near(const Graph& graph, int agent, int reach, std::vector<int>& seen) {
    std::vector<int> found{agent};
    seen[static_cast<std::size_t>(agent)] = agent;
    std::size_t next = 0;
    for (int step = 0; step < reach && next < found.size(); ++step)
        for (const std::size_t end = found.size(); next < end; ++next)
            for (const int v : graph.neighbours(found[next]))
                if (seen[static_cast<std::size_t>(v)] != agent) {
                    seen[static_cast<std::size_t>(v)] = agent;
                    found.push_back(v);
                }
    found.erase(found.begin());
    std::ranges::sort(found);
    return found;
}

}  // namespace

struct NearGroups::Walk {
    std::size_t size;
    const std::function<bool(std::span<const int>)>& visit;
    std::vector<int> group;
    std::vector<int> touched;  // of every agent, how many of the group are near it, or are it
    std::vector<int> sorted;
};

NearGroups::NearGroups(const Graph& graph, int reach, std::size_t most_pairs)
    : agents_(graph.agents()) {
    std::vector<int> seen(static_cast<std::size_t>(agents_), -1);
    std::size_t pairs = 0;
    for (int agent = 0; agent < agents_ && complete_; ++agent) {
        pairs += near_.emplace_back(agents_near(graph, agent, reach, seen)).size();
        complete_ = pairs <= 2 * most_pairs;
    }
    if (!complete_) near_.clear();
}

bool NearGroups::extend(Walk& walk, std::vector<int> candidates) const {
    if (walk.group.size() == walk.size) {
        walk.sorted = walk.group;
        std::ranges::sort(walk.sorted);
        return walk.visit(walk.sorted);
    }
    while (!candidates.empty()) {
        const int joining = candidates.back();
        candidates.pop_back();
        std::vector<int> more = candidates;
        const std::vector<int>& near = near_[static_cast<std::size_t>(joining)];
        for (const int v : near)
            if (v > walk.group.front() && walk.touched[static_cast<std::size_t>(v)] == 0)
                more.push_back(v);
        for (const int v : near) ++walk.touched[static_cast<std::size_t>(v)];
        ++walk.touched[static_cast<std::size_t>(joining)];
        walk.group.push_back(joining);
        const bool goes_on = extend(walk, std::move(more));
        walk.group.pop_back();
        --walk.touched[static_cast<std::size_t>(joining)];
        for (const int v : near) --walk.touched[static_cast<std::size_t>(v)];
        if (!goes_on) return false;
    }
    return true;
}

std::span<const int> NearGroups::near(int agent) const {
    if (!complete_) return {};
    return near_[static_cast<std::size_t>(agent)];
}

bool NearGroups::visit(int size, const std::function<bool(std::span<const int>)>& visit) const {
    if (size == 1) {
        for (int agent = 0; agent < agents_; ++agent)
            if (!visit({&agent, 1})) return false;
        return true;
    }
    if (!complete_) return false;
    Walk walk{static_cast<std::size_t>(size),
              visit,
              {},
              std::vector<int>(static_cast<std::size_t>(agents_), 0),
              {}};
    for (int root = 0; root < agents_; ++root) {
        const std::vector<int>& near = near_[static_cast<std::size_t>(root)];
        std::vector<int> candidates;
        std::ranges::copy_if(near, std::back_inserter(candidates), [&](int v) { return v > root; });
        for (const int v : near) ++walk.touched[static_cast<std::size_t>(v)];
        ++walk.touched[static_cast<std::size_t>(root)];
        walk.group.assign(1, root);
        const bool goes_on = extend(walk, std::move(candidates));
        --walk.touched[static_cast<std::size_t>(root)];
        for (const int v : near) --walk.touched[static_cast<std::size_t>(v)];
        if (!goes_on) return false;
    }
    return true;
}

}  // namespace sotto
