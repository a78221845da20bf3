#include "agent/message_coder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "core/value_range.hpp"
#include "core/weighted_sum.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

double rounded_weight(double weight) {
    return std::nearbyint(weight / MessageSteps::weight_unit) * MessageSteps::weight_unit;
}

/// sum_{u != v} w_uv of every sender v, of rounded weights.
std::vector<double> weights_away(const MixingMatrix& mixing) {
    std::vector<double> away(static_cast<std::size_t>(mixing.agents()), 0);
    for (int u = 0; u < mixing.agents(); ++u) {
        const auto members = mixing.members(u);
        const auto weights = mixing.weights(u);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (members[j] != u)
                away[static_cast<std::size_t>(members[j])] += rounded_weight(weights[j]);
    }
    return away;
}

}  // namespace

void require_codable(const MixingMatrix& mixing) {
    if (!mixing.doubly_stochastic())
        throw ConfigError(
            "where the mixing weights of a sender do not sum to 1, so that rounding would move the "
            "mean of all models");
    for (int u = 0; u < mixing.agents(); ++u) {
        double sum = 0;
        for (const double weight : mixing.weights(u)) sum += std::abs(weight);
        if (!(sum <= MessageSteps::most_weight - 1))
            throw ConfigError(
                fmt::format("with mixing weights of agent {} whose absolute values sum to {:.3g}, "
                            "more than {}",
                            u,
                            sum,
                            MessageSteps::most_weight - 1));
    }
}

MessageCoder::MessageCoder(const MixingMatrix& mixing,
                           std::span<const LocalAgent> agents,
                           Eigen::Index dimension,
                           MessageSteps steps)
    : steps_(std::move(steps)), outgoing_(agents.size()) {
    require_codable(mixing);
    const std::vector<double> away = weights_away(mixing);
    for (const LocalAgent& agent : agents) {
        std::vector<double>& weights = weights_.emplace_back();
        const auto members = mixing.members(agent.id);
        const auto given = mixing.weights(agent.id);
        for (std::size_t j = 0; j < members.size(); ++j)
            weights.push_back(members[j] == agent.id ? 1 - away[static_cast<std::size_t>(agent.id)]
                                                     : rounded_weight(given[j]));
    }
    known_.resize(dimension, std::ssize(agents));
    sums_ = codes_ = known_;
    for (std::size_t a = 0; a < agents.size(); ++a)
        outgoing_[a].to_all = codes_.col(static_cast<Eigen::Index>(a)).data();
    restart();
}

void MessageCoder::restart() {
    known_.setZero();
    sums_.setZero();
    for (Heard& heard : heard_) heard.messages.setZero();
}

void MessageCoder::keep_heard() {
    if (keeps_heard()) return;
    for (const auto& weights : weights_) {
        Heard& heard = heard_.emplace_back();
        heard.messages = Eigen::MatrixXd::Zero(known_.rows(), std::ssize(weights));
        heard.columns.resize(weights.size());
    }
}

void MessageCoder::encode(ExchangeId id, const Eigen::MatrixXd& messages, int threads) {
    step_ = steps_.at(id);
    scaled_ = weights_;
    for (auto& weights : scaled_)
        for (double& weight : weights) weight *= step_;
    const double inverse = 1 / step_;
    parallel_for(messages.cols(), threads, [&](long a) {
        const double* const message = messages.col(a).data();
        double* const known = known_.col(a).data();
        double* const codes = codes_.col(a).data();
        // Adding and taking away 1.5 2^52 rounds to a whole number, ties to even.
        constexpr double whole = 0x1.8p52;
        for (Eigen::Index i = 0; i < messages.rows(); ++i) {
            const double code = ((message[i] - known[i]) * inverse + whole) - whole;
            codes[i] = code;
            known[i] += step_ * code;
        }
    });
}

std::optional<Eigen::Index> MessageCoder::mix(std::size_t local,
                                              Eigen::Index first,
                                              std::span<const double* const> codes,
                                              std::span<const double> message,
                                              std::span<double> mixed) {
    const auto a = static_cast<Eigen::Index>(local);
    double* const sums = sums_.col(a).data() + first;
    const double* const known = known_.col(a).data() + first;
    weighted_sum(codes, scaled_[local], mixed);
    for (std::size_t i = 0; i < mixed.size(); ++i) {
        sums[i] += mixed[i];
        mixed[i] = message[i] + (sums[i] - known[i]);
    }
    const auto beyond =
        first_beyond({sums, mixed.size()}, MessageSteps::most_weight * steps_.limit());
    if (!beyond) return std::nullopt;
    return first + static_cast<Eigen::Index>(*beyond);
}

std::span<const double* const> MessageCoder::heard(std::size_t local,
                                                   Eigen::Index first,
                                                   Eigen::Index count,
                                                   std::span<const double* const> codes) {
    Heard& heard = heard_[local];
    for (std::size_t j = 0; j < codes.size(); ++j) {
        auto known = heard.messages.col(static_cast<Eigen::Index>(j)).segment(first, count);
        known += step_ * Eigen::Map<const Eigen::VectorXd>(codes[j], count);
        heard.columns[j] = known.data();
    }
    return heard.columns;
}

}  // namespace sotto
