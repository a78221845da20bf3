#include "sums/learnt_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace sotto
