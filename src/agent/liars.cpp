#include "agent/liars.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/seeded_random.hpp"
#include "core/value_range.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

Liars::Liars(LiesByPlace lies,
             std::span<const LocalAgent> agents,
             const MixingSchedule& mixing,
             Index dimension,
             std::uint64_t seed)
    : lies_(std::move(lies)), mixing_(mixing), seed_(seed) {
    for (std::size_t a = 0; a < agents.size(); ++a) {
        const auto& lie = lies_[static_cast<std::size_t>(agents[a].id)];
        if (!lie) continue;
        Liar& liar = liars_.emplace_back();
        liar.local = a;
        liar.agent = agents[a].id;
        liar.lie = *lie;
        liar.model = liar.message = VectorXd::Zero(dimension);
    }
}

void Liars::change_gradient(int agent, Eigen::Ref<VectorXd> gradient) const {
    const auto& lie = lies_[static_cast<std::size_t>(agent)];
    if (lie && lie->kind == LieKind::label_flip) gradient *= -lie->strength;
}

void Liars::begin_round(const Eigen::MatrixXd& models) {
    for (Liar& liar : liars_) liar.model = models.col(static_cast<Index>(liar.local));
}

bool Liars::listens(const Liar& liar) const {
    return liar.lie.kind == LieKind::little || liar.lie.kind == LieKind::inner_product;
}

void Liars::make(const Liar& liar, ExchangeId id, Eigen::Ref<VectorXd> message) const {
    const double strength = liar.lie.strength;
    const auto k = static_cast<Index>(id.step);
    const bool knows = id.step < std::ssize(liar.heard.known) &&
                       liar.heard.known[static_cast<std::size_t>(id.step)] != 0;
    switch (liar.lie.kind) {
        case LieKind::sign_flip:
            message = (1 + strength) * liar.model - strength * message;
            break;
        case LieKind::noise: {
            const std::uint64_t place = (static_cast<std::uint64_t>(id.round) << 32U) +
                                        (static_cast<std::uint64_t>(id.step) << 24U) +
                                        static_cast<std::uint64_t>(liar.agent);
            SeededRandom random(seed_, "lies", place);
            const double deviation = strength * (message - liar.model).norm() /
                                     std::sqrt(static_cast<double>(message.size()));
            for (Index i = 0; i < message.size(); ++i)
                message(i) = liar.model(i) + deviation * random.normal();
            break;
        }
        case LieKind::little:
            if (knows) message = liar.heard.mean.col(k) - strength * liar.heard.deviation.col(k);
            break;
        case LieKind::inner_product:
            if (knows) message = liar.model - strength * liar.heard.update.col(k);
            break;
        case LieKind::label_flip:
        case LieKind::no_pair_noise:
        case LieKind::wrong_sign:
            break;
    }
}

void Liars::lie(ExchangeId id,
                const Eigen::MatrixXd& messages,
                double limit,
                MessagePrecision precision,
                std::span<Outgoing> outgoing) {
    exchange_ = id.step;
    for (Liar& liar : liars_) {
        liar.message = messages.col(static_cast<Index>(liar.local));
        make(liar, id, liar.message);
        const std::span<double> values(liar.message.data(),
                                       static_cast<std::size_t>(liar.message.size()));
        (void)limit_values(values, limit);
        round_to_precision(values, precision);
        outgoing[liar.local].to_all = liar.message.data();
    }
}

void Liars::on_received(long round,
                        std::size_t local,
                        Index first,
                        Index count,
                        std::span<const double* const> columns) {
    const auto found = std::ranges::find(liars_, local, &Liar::local);
    if (found == liars_.end() || !listens(*found)) return;
    constexpr double share = 0.05;  // of a round in U
    Heard& heard = found->heard;
    const auto k = static_cast<Index>(exchange_);
    const Index dimension = found->model.size();
    if (heard.mean.cols() <= k) {
        for (Eigen::MatrixXd* const all : {&heard.mean, &heard.deviation, &heard.update})
            all->conservativeResize(dimension, k + 1);
        heard.update.col(k).setZero();
        heard.known.resize(static_cast<std::size_t>(k) + 1, 0);
    }
    auto mean = heard.mean.col(k).segment(first, count);
    auto deviation = heard.deviation.col(k).segment(first, count);
    mean.setZero();
    deviation.setZero();
    double honest = 0;
    const auto members = mixing_.at(round).members(found->agent);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (columns[j] == nullptr || lies(members[j])) continue;
        const Eigen::Map<const VectorXd> message(columns[j], count);
        mean += message;
        deviation += message.cwiseAbs2();
        ++honest;
    }
    if (honest == 0) return;
    mean /= honest;
    deviation = (deviation / honest - mean.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
    const bool known = heard.known[static_cast<std::size_t>(k)] != 0;
    heard.update.col(k).segment(first, count) +=
        (known ? share : 1) *
        (mean - found->model.segment(first, count) - heard.update.col(k).segment(first, count));
    if (first + count == dimension) heard.known[static_cast<std::size_t>(k)] = 1;
}

NoisePlan plan_of_liars(NoisePlan plan, const LiesByPlace& lies) {
    for (NoiseRow& row : plan.rows) {
        const auto& lie = lies[static_cast<std::size_t>(row.sender)];
        if (!lie) continue;
        const bool none = lie->kind == LieKind::no_pair_noise;
        if (!none && lie->kind != LieKind::wrong_sign) continue;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            const bool shared =
                plan.groups[static_cast<std::size_t>(stream.group)].members.size() > 1;
            if (shared) row.coefficients[j] *= none ? 0 : -1;
        }
    }
    return plan;
}

}  // namespace sotto
