#include "agent/shared_noise_check.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double longest_average = 64;  // rounds

bool can_be_tested(const NoisePlan& plan) {
    return plan.entry == NoiseEntry::gradient && plan.same_message_to_all() &&
           plan.temporal.kind == TemporalFactor::Kind::identity &&
           plan.distribution() == StreamDistribution::gaussian;
}

bool holds(const NoisePlan& plan, int stream, int agent) {
    const int group = plan.streams[static_cast<std::size_t>(stream)].group;
    return std::ranges::binary_search(plan.groups[static_cast<std::size_t>(group)].members, agent);
}

/// Of a coordinate of the noise that `sender` shares with `receiver`; 0 if there is none.
double shared_deviation(const NoisePlan& plan, int sender, int receiver) {
    const auto row = std::ranges::lower_bound(plan.rows, sender, {}, &NoiseRow::sender);
    if (row == plan.rows.end() || row->sender != sender) return 0;
    double square = 0;
    for (std::size_t k = 0; k < row->streams.size(); ++k)
        if (holds(plan, row->streams[k], receiver))
            square += row->coefficients[k] * row->coefficients[k];
    return plan.scale * std::sqrt(square);
}

/// z of the union bound.
double bound_of(const NoisePlan& plan,
                const MixingMatrix& mixing,
                const SharedNoiseCheck::Setup& setup) {
    double pairs = 0;
    for (int u = 0; u < plan.agents; ++u)
        for (const int v : mixing.members(u))
            if (v != u && shared_deviation(plan, v, u) > 0) ++pairs;
    const double tests = 2 * static_cast<double>(setup.rounds) * std::max(1.0, pairs);
    return boost::math::quantile(
        boost::math::complement(boost::math::normal(), setup.false_alarms / tests / 2));
}

/// The ring of `sender` as far as the receiver holds its seeds.
KeyRing shared_ring(const NoisePlan& plan, int sender, const KeyRing& receiver) {
    KeyRing ring(sender);
    for (const int group : receiver.groups())
        if (std::ranges::binary_search(plan.groups[static_cast<std::size_t>(group)].members,
                                       sender))
            ring.add(group, receiver.seed(group).clone());
    return ring;
}

}  // namespace

SharedNoiseCheck::SharedNoiseCheck(const NoisePlan& plan,
                                   const MixingMatrix& mixing,
                                   std::span<const KeyRing> rings,
                                   const Setup& setup)
    : dimension_(setup.dimension), receivers_(rings.size()) {
    const bool possible = can_be_tested(plan);
    if (possible) bound_ = bound_of(plan, mixing, setup);
    for (std::size_t a = 0; a < rings.size(); ++a) {
        Receiver& receiver = receivers_[a];
        const int own = rings[a].agent();
        const auto members = mixing.members(own);
        receiver.senders.resize(members.size());
        std::vector<KeyRing> shared;
        for (std::size_t j = 0; j < members.size() && possible; ++j) {
            const double deviation =
                members[j] == own ? 0 : shared_deviation(plan, members[j], own);
            if (deviation == 0) continue;
            receiver.senders[j].deviation = deviation;
            receiver.senders[j].column = std::ssize(shared);
            shared.push_back(shared_ring(plan, members[j], rings[a]));
        }
        if (shared.empty()) continue;
        const NoisePlan known =
            with_streams(plan, [&](int stream) { return holds(plan, stream, own); });
        receiver.source = std::make_unique<NoiseSource>(known, shared, setup.threads);
        receiver.shared = Eigen::MatrixXd::Zero(dimension_, std::ssize(shared));
    }
}

void SharedNoiseCheck::begin_round(std::uint32_t epoch, std::uint64_t noise_round, double step) {
    step_ = step;
    for (Receiver& receiver : receivers_) {
        if (receiver.source) receiver.source->draw(epoch, noise_round, receiver.shared);
        for (Sender& sender : receiver.senders) sender.product = sender.square = 0;
    }
}

void SharedNoiseCheck::look(std::size_t local,
                            std::size_t place,
                            Index first,
                            Index count,
                            const double* message,
                            const double* model) {
    Receiver& receiver = receivers_[local];
    Sender& sender = receiver.senders[place];
    if (sender.deviation == 0 || sender.failed) return;
    const auto shared = receiver.shared.col(sender.column).segment(first, count);
    const auto rest = Eigen::Map<const VectorXd>(message, count) -
                      Eigen::Map<const VectorXd>(model + first, count) + step_ * shared;
    sender.product += rest.dot(shared);
    sender.square += rest.squaredNorm();
    if (first + count == dimension_) judge(sender);
}

void SharedNoiseCheck::judge(Sender& sender) const {
    if (!(sender.square > 0)) return;
    const double now = sender.product / (sender.deviation * std::sqrt(sender.square));
    ++sender.rounds;
    const double share = std::max(1 / static_cast<double>(sender.rounds), 1 / longest_average);
    sender.average = (1 - share) * sender.average + share * now;
    sender.variance = (1 - share) * (1 - share) * sender.variance + share * share;
    // A value that is no number has not been sent by an honest agent either.
    sender.failed = !(std::abs(now) <= bound_) ||
                    !(std::abs(sender.average) <= bound_ * std::sqrt(sender.variance));
}

bool SharedNoiseCheck::failed(std::size_t local, std::size_t place) const {
    return receivers_[local].senders[place].failed;
}

}  // namespace sotto
