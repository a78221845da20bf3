#include "sotto/views/view_innovations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/seeded_random.hpp"
#include "views/observation_model.hpp"
#include "views/view_filter.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The plan with streams of unit variance: a Laplace variable of scale 1 has variance 2.
NoisePlan with_unit_variance(const NoisePlan& plan) {
    NoisePlan result = plan;
    if (result.distribution() != StreamDistribution::laplace) return result;
    result.scale *= std::numbers::sqrt2;
    for (NoiseStream& stream : result.streams) stream.distribution = StreamDistribution::gaussian;
    return result;
}

void append_rows(MatrixXd& matrix, const MatrixXd& more) {
    if (more.rows() == 0) return;
    const Index before = matrix.rows();
    matrix.conservativeResize(before + more.rows(), more.cols());
    matrix.bottomRows(more.rows()) = more;
}

/// The filter's error dynamics, or its estimate of the state: x+ = F x + input +- gain r.
MatrixXd carry_on(const LinearStep& step,
                  const ViewFilter::Gain& gain,
                  const MatrixXd& state,
                  const MatrixXd& whitened,
                  double sign) {
    MatrixXd next = step.transition * state;
    add_product(sign, gain.gain, false, whitened, false, next);
    return next;
}

MatrixXd product(const MatrixXd& rows, const MatrixXd& columns) {
    MatrixXd result = MatrixXd::Zero(rows.rows(), columns.cols());
    add_product(1, rows, false, columns, false, result);
    return result;
}

}  // namespace

struct ViewTest::State {
    State(const MessageProcess& given, View observer, VectorXd start)
        : plan(with_unit_variance(*given.plan)),
          process(given),
          view(std::move(observer)),
          initial(std::move(start)),
          same_to_all(plan.same_message_to_all()) {
        if (given.phases.size() != 1 || !given.phases.front().departed.empty() ||
            given.phases.front().plan != nullptr || given.phases.front().repeated != 0)
            throw ConfigError(
                "test of a view: one phase of the process's plan is allowed, with all agents there "
                "in every round and none repeated");
        if (static_cast<long>(given.step_sizes.size()) != given.rounds())
            throw ConfigError(fmt::format(
                "test of a view: {} step sizes for {} rounds", given.step_sizes.size(), rounds()));
        if (plan.aggregation == Aggregation::trusted_mean)
            throw ConfigError("test of a view: not possible with a trusted mean");
        process.plan = &plan;
        // Observations that hear nothing of the state are wanted too: rounds are not "independent".
        LaggedNoise noise = lagged_noise(plan.temporal, rounds(), static_cast<int>(rounds()));
        noise.independent_rounds = false;
        model = make_observation_model(process, view, {noise});
        filter = std::make_unique<ViewFilter>(model);
        std::vector<bool> heard(static_cast<std::size_t>(plan.agents),
                                view.kind == View::Kind::all_messages);
        if (view.kind == View::Kind::neighbours)
            for (const int a : view.members)
                for (const int v : process.graph->neighbours(a))
                    heard[static_cast<std::size_t>(v)] = true;
        for (int u = 0; u < plan.agents; ++u) {
            if (is_member(u)) continue;
            unknown.push_back(u);
            if (heard[static_cast<std::size_t>(u)]) seen.push_back(u);
        }
        known = initial.replicate(1, plan.agents);
    }

    [[nodiscard]] long rounds() const { return process.rounds(); }
    [[nodiscard]] bool is_member(int agent) const {
        return std::ranges::binary_search(view.members, agent);
    }
    [[nodiscard]] const MixingMatrix& mixing_at(long round) const {
        return process.phases.front().mixing.at(round);
    }
    /// Who gets the message of a sender that the view reads.
    [[nodiscard]] int a_receiver_of(int sender) const {
        for (const int r : process.graph->neighbours(sender))
            if (view.kind == View::Kind::all_messages || is_member(r)) return r;
        return sender;
    }
    /// What noise the view knows does to a message.
    void add_known(VectorXd& message, const SeenStep& step, int sender, int receiver) const {
        const VectorXd noise = step.known_noise(sender, receiver);
        if (noise.size() == 0) return;
        if (plan.entry == NoiseEntry::gradient)
            message -=
                process.step_sizes[static_cast<std::size_t>(time / process.gossip_steps)] * noise;
        else
            message += noise;
    }
    [[nodiscard]] VectorXd mixed(const MixingMatrix& mixing, int agent) const {
        VectorXd result = VectorXd::Zero(initial.size());
        const auto members = mixing.members(agent);
        const auto weights = mixing.weights(agent);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (weights[j] != 0) result += weights[j] * known.col(members[j]);
        return result;
    }

    /// y of the model: what was predicted from all that is known, less what was seen, so that
    /// contributions count with their sign. `known` holds messages: seen ones as they are, of the
    /// others what is known of them.
    MatrixXd observe_messages(const SeenStep& step) {
        const long round = time / process.gossip_steps;
        const bool injects = time % process.gossip_steps == 0;
        MatrixXd predicted = known;
        for (int u = 0; u < plan.agents; ++u) {
            if (is_member(u)) {
                predicted.col(u) = step.message(u, u);
                continue;
            }
            VectorXd message =
                time == 0 ? initial : mixed(mixing_at(injects ? round - 1 : round), u);
            if (injects) add_known(message, step, u, u);
            predicted.col(u) = message;
        }
        known = std::move(predicted);
        if (view.kind == View::Kind::secure_sum) {
            MatrixXd observed(static_cast<Index>(view.members.size()), initial.size());
            const MixingMatrix& mixing = mixing_at(round);
            for (std::size_t i = 0; i < view.members.size(); ++i) {
                const int a = view.members[i];
                const VectorXd missing = mixed(mixing, a) - mixing.weight(a, a) * known.col(a);
                observed.row(static_cast<Index>(i)) = (missing - step.sum(a)).transpose();
            }
            return observed;
        }
        MatrixXd observed(static_cast<Index>(seen.size()), initial.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const VectorXd message = step.message(seen[i], a_receiver_of(seen[i]));
            observed.row(static_cast<Index>(i)) = (known.col(seen[i]) - message).transpose();
            known.col(seen[i]) = message;
        }
        return observed;
    }

    [[nodiscard]] bool same_for_every_receiver(int sender) const {
        return std::ranges::none_of(plan.rows, [&](const NoiseRow& row) {
            return row.sender == sender && row.receiver != NoiseRow::all_receivers;
        });
    }

    /// The same where receivers get messages of their own; `known` holds what is known of models.
    MatrixXd observe_receivers(const SeenStep& step) {
        const long round = time / process.gossip_steps;
        const bool injects = time % process.gossip_steps == 0;
        const MixingMatrix& mixing = mixing_at(round);
        const auto known_message = [&](int sender, int receiver) {
            if (is_member(sender)) return VectorXd(step.message(sender, receiver));
            VectorXd message = known.col(sender);
            if (injects) add_known(message, step, sender, receiver);
            return message;
        };
        const auto known_sum = [&](int receiver) {
            VectorXd sum = VectorXd::Zero(initial.size());
            const auto members = mixing.members(receiver);
            const auto weights = mixing.weights(receiver);
            for (std::size_t j = 0; j < members.size(); ++j)
                if (weights[j] != 0) sum += weights[j] * known_message(members[j], receiver);
            return sum;
        };
        MatrixXd observed(model.at(time).observation.rows(), initial.size());
        Index row = 0;
        if (view.kind == View::Kind::secure_sum) {
            for (const int a : view.members)
                observed.row(row++) =
                    (known_sum(a) - mixing.weight(a, a) * step.message(a, a) - step.sum(a))
                        .transpose();
        } else {
            for (const int v : seen) {
                const bool same = !injects || same_for_every_receiver(v);
                for (const int r : process.graph->neighbours(v)) {
                    if (view.kind == View::Kind::neighbours && !is_member(r)) continue;
                    observed.row(row++) = (known_message(v, r) - step.message(v, r)).transpose();
                    if (same) break;
                }
            }
        }
        MatrixXd next = known;
        for (const int a : unknown) next.col(a) = known_sum(a);
        known = std::move(next);
        return observed;
    }

    NoisePlan plan;
    MessageProcess process;
    View view;
    VectorXd initial;
    bool same_to_all;
    ObservationModel model;
    std::unique_ptr<ViewFilter> filter;
    std::vector<int> seen, unknown;
    long time = 0;
    MatrixXd known;     // coordinates x agents
    MatrixXd estimate;  // state x coordinates
};

ViewTest::ViewTest(const MessageProcess& process, const View& view, VectorXd initial)
    : state_(std::make_unique<State>(process, view, std::move(initial))) {}
ViewTest::~ViewTest() = default;
ViewTest::ViewTest(ViewTest&&) noexcept = default;

long ViewTest::gossip_steps_total() const {
    return state_->rounds() * state_->process.gossip_steps;
}

const std::vector<int>& ViewTest::unknown_agents() const { return state_->unknown; }

ViewTest::Innovation ViewTest::next(const SeenStep& seen) {
    State& s = *state_;
    if (s.time >= gossip_steps_total())
        throw ConfigError(fmt::format("test of a view: it covers {} rounds", s.process.rounds()));
    const LinearStep& step = s.model.at(s.time);
    const ViewFilter::Gain& gain = s.filter->at(s.time);
    MatrixXd observed = s.same_to_all ? s.observe_messages(seen) : s.observe_receivers(seen);
    if (s.time == 0) s.estimate.resize(0, s.initial.size());
    observed -= step.observation * s.estimate;
    Innovation result{product(gain.whitening.rows, observed),
                      product(gain.whitening.blind, observed)};
    s.estimate = carry_on(step, gain, s.estimate, result.whitened, 1);
    ++s.time;
    return result;
}

ViewTest::Innovation ViewTest::responses(std::span<const int> agents,
                                         const MatrixXd& contributions) const {
    const State& s = *state_;
    const auto count = static_cast<Index>(agents.size());
    if (contributions.rows() != s.rounds() || contributions.cols() != count)
        throw ConfigError(
            fmt::format("test of a view: {} x {} contributions of {} agents in {} rounds",
                        contributions.rows(),
                        contributions.cols(),
                        count,
                        s.rounds()));
    Innovation result{MatrixXd(0, count), MatrixXd(0, count)};
    MatrixXd state(0, count);
    for (long time = 0; time < gossip_steps_total(); ++time) {
        const LinearStep& step = s.model.at(time);
        const ViewFilter::Gain& gain = s.filter->at(time);
        MatrixXd observed = step.observation * state;
        const long round = time / s.process.gossip_steps;
        const bool injects = time % s.process.gossip_steps == 0;
        MatrixXd input;
        if (injects) {
            input = MatrixXd::Zero(s.plan.agents, count);
            for (Index j = 0; j < count; ++j)
                input(agents[static_cast<std::size_t>(j)], j) =
                    s.model.input_scale[static_cast<std::size_t>(round)] * contributions(round, j);
            observed += step.observed_input * input;
        }
        const MatrixXd whitened = product(gain.whitening.rows, observed);
        append_rows(result.whitened, whitened);
        append_rows(result.noiseless, product(gain.whitening.blind, observed));
        MatrixXd next = carry_on(step, gain, state, whitened, -1);
        if (injects) next += step.state_input * input;
        state = std::move(next);
    }
    return result;
}

namespace {

/// Changes signs of `rounds`, one at a time, as long as s^T gram s grows.
double ascend(const MatrixXd& gram, const std::vector<Index>& rounds, VectorXd& signs) {
    VectorXd pull = gram * signs;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Index t : rounds) {
            const double others = pull(t) - gram(t, t) * signs(t);
            const double better = others < 0 ? -1.0 : 1.0;
            if (better == signs(t) || std::abs(others) <= 1e-12 * gram(t, t)) continue;
            pull += (better - signs(t)) * gram.col(t);
            signs(t) = better;
            changed = true;
        }
    }
    return signs.dot(pull);
}

}  // namespace

VectorXd worst_signs(const MatrixXd& gram, const Participation& participation) {
    const Index rounds = gram.rows();
    VectorXd best = VectorXd::Zero(rounds);
    double most = -1;
    constexpr int random_starts = 8;
    for (Index first = 0; first < std::min<Index>(participation.cycle, rounds); ++first) {
        std::vector<Index> mine;
        for (Index t = first; t < rounds; t += participation.cycle) mine.push_back(t);
        SeededRandom random(0, "worst signs", static_cast<std::uint64_t>(first));
        for (int start = 0; start < 2 + random_starts; ++start) {
            VectorXd signs = VectorXd::Zero(rounds);
            for (std::size_t i = 0; i < mine.size(); ++i)
                signs(mine[i]) = start == 0   ? 1
                                 : start == 1 ? (i % 2 == 0 ? 1 : -1)
                                              : (random.below(2) == 0 ? 1 : -1);
            const double value = ascend(gram, mine, signs);
            if (value > most * (1 + 1e-12)) {
                most = value;
                best = signs;
            }
        }
    }
    return best;
}

}  // namespace sotto
