#include "agent/robust_mixing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Of the last messages, more of which are above tau than an honest agent's.
constexpr double too_loud = 0.25, loud_messages = 30;

/// A difference may be so many times the median of a receiver's, beside their limits.
constexpr double beside_median = 1.2;

/// Of the own message's norm: messages that are equal but for rounding, to float32 too, differ by
/// less. Exchanges after which honest agents agree have limits below that.
constexpr double rounding = 2.5e-7;

/// The lower one of two.
double median_of(std::vector<double> values) {
    const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

double kept_of_average(double norm, double bound) {
    if (norm <= bound) return 1;
    return std::max(0.0, 2 * bound / norm - 1);
}

void trimmed_sum(std::span<const double* const> columns,
                 std::span<const double> weights,
                 std::size_t own,
                 int trimmed,
                 std::span<double> result) {
    std::vector<std::pair<double, double>> values;  // of a coordinate, with their weights
    const auto left_out = static_cast<std::ptrdiff_t>(trimmed);
    for (std::size_t i = 0; i < result.size(); ++i) {
        values.clear();
        double own_weight = weights[own];
        for (std::size_t j = 0; j < columns.size(); ++j) {
            if (columns[j] != nullptr)
                values.emplace_back(columns[j][i], j == own ? 0 : weights[j]);
            else
                own_weight += weights[j];
        }
        const std::ptrdiff_t most = std::ssize(values);
        const std::ptrdiff_t side = std::min(left_out, most / 2);
        std::nth_element(values.begin(), values.begin() + side, values.end());
        std::nth_element(values.begin() + side, values.end() - side, values.end());
        double sum = 0;
        for (std::ptrdiff_t j = 0; j < most; ++j) {
            const auto& [value, weight] = values[static_cast<std::size_t>(j)];
            if (j < side || j >= most - side)
                own_weight += weight;
            else
                sum += weight * value;
        }
        result[i] = sum + own_weight * columns[own][i];
    }
}

RobustMixing::RobustMixing(const RobustRule& rule,
                           const MixingMatrix& mixing,
                           std::vector<int> agents,
                           Index dimension,
                           std::optional<HonestSpread> spread,
                           int exchanges)
    : rule_(rule), spread_(std::move(spread)), exchanges_(exchanges) {
    for (const int agent : agents) {
        Receiver& receiver = receivers_.emplace_back();
        receiver.agent = agent;
        const auto members = mixing.members(agent);
        const auto weights = mixing.weights(agent);
        receiver.members.assign(members.begin(), members.end());
        receiver.weights.assign(weights.begin(), weights.end());
        receiver.own =
            static_cast<std::size_t>(std::ranges::find(members, agent) - members.begin());
        for (const int member : members) receiver.noticed.push_back({agent, member});
        receiver.kept.assign(members.size(), 1);
        receiver.counts = receiver.kept;
        receiver.loud.assign(members.size(), 0);
        receiver.came.assign(members.size(), 0);
        if (!rule_.keeps_messages()) continue;
        receiver.heard = Eigen::MatrixXd::Zero(dimension, std::ssize(members));
        if (spread_) receiver.averages = receiver.used = receiver.heard;
    }
}

void RobustMixing::begin_round(long round,
                               const StepSchedule& steps,
                               std::uint32_t epoch,
                               std::uint64_t noise_round) {
    in_round_ = true;
    if (check_) check_->begin_round(epoch, noise_round, steps.at(round));
    if (!spread_) return;
    for (; next_round_ < round; ++next_round_) spread_->pass_round(steps.at(next_round_));
    spread_->begin_round(steps.at(round));
    next_round_ = round + 1;
    for (Receiver& receiver : receivers_) compare_averages(receiver);
}

void RobustMixing::compare_averages(Receiver& receiver) {
    const std::size_t count = receiver.members.size();
    const auto dimension = static_cast<double>(receiver.averages.rows());
    const double share = spread_->share();
    // Squares: what an average has beyond the expected noise, and what noise alone may have.
    std::vector<double> excess(count), allowed(count), others;
    for (std::size_t j = 0; j < count; ++j) {
        if (j == receiver.own) continue;
        const int u = receiver.agent, v = receiver.members[j];
        const double expected = spread_->average_variance(u, v) * dimension;
        const double noise = spread_->average_noise(u, v);
        excess[j] = receiver.averages.col(static_cast<Index>(j)).squaredNorm() - expected;
        allowed[j] = noise * noise - expected;
        others.push_back(excess[j]);
    }
    if (others.empty()) return;
    const double spread = 4 * std::max(0.0, median_of(others));
    for (std::size_t j = 0; j < count; ++j) {
        if (j == receiver.own) continue;
        const auto column = static_cast<Index>(j);
        const double bound = std::sqrt(allowed[j] + spread);
        const double expected =
            spread_->average_variance(receiver.agent, receiver.members[j]) * dimension;
        const double left = receiver.used.col(column).squaredNorm() - expected;
        receiver.kept[j] = kept_of_average(std::sqrt(std::max(0.0, excess[j])), bound);
        receiver.counts[j] = receiver.loud[j] > too_loud
                                 ? 0
                                 : kept_of_average(std::sqrt(std::max(0.0, left)), bound);
        Suspicion& noticed = receiver.noticed[j];
        ++noticed.rounds;
        if (receiver.kept[j] < 1 || receiver.counts[j] < 1) ++noticed.beyond;
        receiver.averages.col(column) *= 1 - share;
        receiver.used.col(column) *= 1 - share;
    }
}

std::vector<const double*> RobustMixing::tested(int exchange,
                                                std::size_t local,
                                                Index first,
                                                Index count,
                                                std::span<const double* const> columns,
                                                const double* model) {
    std::vector<const double*> heard(columns.begin(), columns.end());
    Receiver& receiver = receivers_[local];
    for (std::size_t j = 0; j < heard.size() && check_; ++j) {
        if (j == receiver.own || heard[j] == nullptr) continue;
        receiver.noticed[j].noise_tested = check_->tests(local, j);
        if (exchange == 0 && in_round_) check_->look(local, j, first, count, heard[j], model);
        if (!check_->failed(local, j)) continue;
        receiver.noticed[j].lacks_noise = true;
        heard[j] = nullptr;
    }
    return heard;
}

bool RobustMixing::mix(int exchange,
                       std::size_t local,
                       Index first,
                       Index count,
                       std::span<const double* const> messages,
                       const double* own,
                       double* model) {
    Receiver& receiver = receivers_[local];
    const std::vector<const double*> columns =
        tested(exchange, local, first, count, messages, model);
    const auto size = static_cast<std::size_t>(count);
    if (rule_.kind == RobustRule::Kind::trimmed) {
        trimmed_sum(columns, receiver.weights, receiver.own, rule_.trimmed, {model + first, size});
        return true;
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
        receiver.came[j] = columns[j] != nullptr ? 1 : 0;
        if (columns[j] != nullptr && j != receiver.own)
            receiver.heard.col(static_cast<Index>(j)).segment(first, count) =
                Eigen::Map<const VectorXd>(columns[j], count);
    }
    const Index dimension = receiver.heard.rows();
    if (first + count < dimension) return false;
    mix_clipped(std::min(exchange, exchanges_ - 1),
                receiver,
                Eigen::Map<const VectorXd>(own, dimension),
                Eigen::Map<VectorXd>(model, dimension));
    return true;
}

void RobustMixing::take_part(int exchange,
                             Receiver& receiver,
                             std::size_t member,
                             double most,
                             Eigen::Ref<VectorXd> difference) {
    const double norm = difference.norm();
    const bool shortened = !(norm <= most);
    Suspicion& noticed = receiver.noticed[member];
    ++noticed.messages;
    if (shortened) {
        ++noticed.shortened;
        difference *= most / norm;
    }
    if (!spread_) return;
    const double recent = std::min(loud_messages, static_cast<double>(noticed.messages));
    receiver.loud[member] += ((shortened ? 1 : 0) - receiver.loud[member]) / recent;
    const auto column = static_cast<Index>(member);
    const double share = spread_->share();
    const double part = share / exchanges_;
    // Of a round's average so far: what it holds of earlier rounds and exchanges.
    const double weight = 1 - share + part * exchange;
    const double left_out = weight > 0 ? (1 - receiver.kept[member]) / weight : 0;
    const VectorXd whole = difference;
    difference -= left_out * receiver.averages.col(column);
    receiver.averages.col(column) += part * whole;
    receiver.used.col(column) += part * difference;
}

double RobustMixing::limit(int exchange,
                           const Receiver& receiver,
                           std::size_t member,
                           double norm_of_own) const {
    if (!spread_) return *rule_.limit;
    return spread_->limit(exchange, receiver.agent, receiver.members[member]) +
           rounding * norm_of_own;
}

double RobustMixing::stretch(int exchange, const Receiver& receiver, double norm_of_own) const {
    if (!spread_) return 1;
    std::vector<double> ratios;
    for (std::size_t j = 0; j < receiver.members.size(); ++j) {
        if (j == receiver.own || receiver.came[j] == 0) continue;
        const double most = limit(exchange, receiver, j, norm_of_own);
        const double norm = receiver.heard.col(static_cast<Index>(j)).norm();
        ratios.push_back(most > 0 ? norm / most : 0);
    }
    return ratios.empty() ? 1 : std::max(1.0, beside_median * median_of(ratios));
}

void RobustMixing::mix_clipped(int exchange,
                               Receiver& receiver,
                               Eigen::Map<const VectorXd> own,
                               Eigen::Map<VectorXd> model) {
    for (std::size_t j = 0; j < receiver.members.size(); ++j)
        if (j != receiver.own && receiver.came[j] != 0)
            receiver.heard.col(static_cast<Index>(j)) -= own;
    const double norm_of_own = own.norm();
    const double times = stretch(exchange, receiver, norm_of_own);
    model = own;
    for (std::size_t j = 0; j < receiver.members.size(); ++j) {
        if (j == receiver.own || receiver.came[j] == 0) continue;
        auto difference = receiver.heard.col(static_cast<Index>(j));
        const double most = times * limit(exchange, receiver, j, norm_of_own);
        take_part(exchange, receiver, j, most, difference);
        model += receiver.weights[j] * receiver.counts[j] * difference;
    }
}

std::vector<Suspicion> RobustMixing::suspicions() const {
    std::vector<Suspicion> all;
    for (const Receiver& receiver : receivers_)
        for (std::size_t j = 0; j < receiver.members.size(); ++j)
            if (j != receiver.own) all.push_back(receiver.noticed[j]);
    return all;
}

}  // namespace sotto
