#include "views/view_innovations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"
#include "views/observation_model.hpp"
#include "views/process_checks.hpp"
#include "views/view_filter.hpp"
#include "views/view_grams.hpp"
#include "views/view_rounds.hpp"

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

MessageProcess under_plan(MessageProcess process, const NoisePlan& plan) {
    process.plan = &plan;
    return process;
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

ViewInnovations::Innovation innovation_of(const Whitening& whitening, const MatrixXd& observed) {
    return {product(whitening.rows, false, observed), product(whitening.blind, false, observed)};
}

void require_one_phase_with_steps(const MessageProcess& process) {
    if (process.phases.size() != 1 || !process.phases.front().departed.empty() ||
        process.phases.front().plan != nullptr || process.phases.front().repeated != 0)
        throw ConfigError(
            "test of a view: one phase of the process's plan is allowed, with all agents there "
            "in every round and none repeated");
    if (static_cast<long>(process.step_sizes.size()) != process.rounds())
        throw ConfigError(fmt::format("test of a view: {} step sizes for {} rounds",
                                      process.step_sizes.size(),
                                      process.rounds()));
    if (process.plan->aggregation == Aggregation::trusted_mean)
        throw ConfigError("test of a view: not possible with a trusted mean");
}

/// What earlier rounds leave is known only of agents whose messages are all seen.
void require_known_past(const MessageProcess& process, const View& view) {
    if (process.correction != Correction::none && view.kind != View::Kind::all_messages)
        throw ConfigError(
            fmt::format("correction: {} is not possible in a test of a view that does not show all "
                        "messages (allowed: none, or the eavesdropper and all-messages)",
                        name_of(process.correction)));
    if (process.momentum != 0 && view.kind != View::Kind::all_messages)
        throw ConfigError(
            fmt::format("momentum: {} is not possible in a test of a view that does not show all "
                        "messages (allowed: 0, or the eavesdropper and all-messages)",
                        process.momentum));
    if (process.gossip.combines() && view.kind != View::Kind::all_messages)
        throw ConfigError(
            "gossip: optimal is not possible in a test of a view that does not show all messages "
            "(allowed: plain, chebyshev, or the eavesdropper and all-messages)");
}

/// Observations independent of the state are needed too, so rounds are declared dependent. Where
/// all messages are seen, corrections change predictions only.
ObservationModel model_of(const MessageProcess& process, const View& view) {
    const long rounds = process.rounds();
    LaggedNoise noise = lagged_noise(process.plan->temporal, rounds, static_cast<int>(rounds));
    noise.independent_rounds = false;
    if (process.correction == Correction::none)
        return make_observation_model(process, view, {noise});
    MessageProcess plain = process;
    plain.correction = Correction::none;
    plain.gossip = GossipPolynomial(process.exchanges());
    for (Phase& phase : plain.phases) phase.gossip.reset();
    return make_observation_model(plain, view, {noise});
}

}  // namespace

struct ViewInnovations::State {
    State(const MessageProcess& given, const View& observer, VectorXd initial)
        : plan(with_unit_variance(*given.plan)),
          process(under_plan(given, plan)),
          view(observer),
          model(model_of(process, view)),
          filter(model),
          predicted(process, view, std::move(initial)),
          estimate(0, predicted.dimension()) {}

    NoisePlan plan;
    MessageProcess process;
    View view;
    ObservationModel model;
    ViewFilter filter;
    PredictedMessages predicted;
    long time = 0;
    MatrixXd estimate;  // state x coordinates
};

void require_testable(const MessageProcess& process, const View& view) {
    check_smoothing(process);
    require_one_phase_with_steps(process);
    require_known_past(process, view);
}

ViewInnovations::ViewInnovations(const MessageProcess& process,
                                 const View& view,
                                 VectorXd initial) {
    require_testable(process, view);
    state_ = std::make_unique<State>(process, view, std::move(initial));
}
ViewInnovations::~ViewInnovations() = default;
ViewInnovations::ViewInnovations(ViewInnovations&&) noexcept = default;

long ViewInnovations::gossip_steps_total() const {
    return state_->process.rounds() * state_->process.exchanges();
}

const std::vector<int>& ViewInnovations::unknown_agents() const {
    return state_->predicted.unknown_agents();
}

ViewInnovations::Innovation ViewInnovations::next(const SeenStep& seen) {
    State& s = *state_;
    if (s.time >= gossip_steps_total())
        throw ConfigError(fmt::format("test of a view: it covers {} rounds", s.process.rounds()));
    const LinearStep& step = s.model.at(s.time);
    const ViewFilter::Gain& gain = s.filter.at(s.time);
    MatrixXd observed = s.predicted.less_seen(seen);
    observed -= step.observation * s.estimate;
    Innovation result = innovation_of(gain.whitening, observed);
    s.estimate = carry_on(step, gain, s.estimate, result.whitened, 1);
    ++s.time;
    return result;
}

ViewInnovations::Innovation ViewInnovations::responses(std::span<const int> agents,
                                                       const MatrixXd& contributions) const {
    const State& s = *state_;
    const auto count = static_cast<Index>(agents.size());
    if (contributions.rows() != s.process.rounds() || contributions.cols() != count)
        throw ConfigError(
            fmt::format("test of a view: {} x {} contributions of {} agents in {} rounds",
                        contributions.rows(),
                        contributions.cols(),
                        count,
                        s.process.rounds()));
    Innovation result{MatrixXd(0, count), MatrixXd(0, count)};
    MatrixXd state(0, count);
    for (long time = 0; time < gossip_steps_total(); ++time) {
        const LinearStep& step = s.model.at(time);
        const ViewFilter::Gain& gain = s.filter.at(time);
        MatrixXd observed = step.observation * state;
        const long round = time / s.process.exchanges();
        const bool injects = time % s.process.exchanges() == 0;
        MatrixXd input;
        if (injects) {
            input = MatrixXd::Zero(s.plan.agents, count);
            for (Index j = 0; j < count; ++j)
                input(agents[static_cast<std::size_t>(j)], j) =
                    s.model.input_scale[static_cast<std::size_t>(round)] * contributions(round, j);
            observed += step.observed_input * input;
        }
        const Innovation response = innovation_of(gain.whitening, observed);
        append_rows(result.whitened, response.whitened);
        append_rows(result.noiseless, response.noiseless);
        MatrixXd next = carry_on(step, gain, state, response.whitened, -1);
        if (injects) next += step.state_input * input;
        state = std::move(next);
    }
    return result;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Vectors of `columns` entries as rows.
MatrixXd as_rows(const std::vector<VectorXd>& rows, Index columns) {
    MatrixXd matrix(static_cast<Index>(rows.size()), columns);
    for (std::size_t i = 0; i < rows.size(); ++i)
        matrix.row(static_cast<Index>(i)) = rows[i].transpose();
    return matrix;
}

}  // namespace

PredictedMessages::PredictedMessages(const MessageProcess& process,
                                     const View& view,
                                     VectorXd initial)
    : process_(process),
      view_(view),
      initial_(std::move(initial)),
      same_to_all_(process.plan->same_message_to_all()),
      agents_(phase_agents(process, view, 0)),
      known_(initial_.replicate(1, process.plan->agents)) {
    if (process.momentum == 0 && !corrected()) return;
    models_ = known_;
    if (corrected()) added_ = known_;
    carried_ = process.correction == Correction::exact_diffusion
                   ? known_
                   : MatrixXd::Zero(known_.rows(), known_.cols());
    directions_ = MatrixXd::Zero(known_.rows(), known_.cols());
}

MatrixXd PredictedMessages::less_seen(const SeenStep& step) {
    MatrixXd observed = !same_to_all_ ? own_messages_less_seen(step)
                        : corrected() ? corrected_less_seen(step)
                                      : messages_less_seen(step);
    ++time_;
    return observed;
}

const MixingMatrix& PredictedMessages::mixing_at(long round) const {
    return process_.phases.front().mixing.at(round);
}

/// A receiver whose message from the sender the view reads.
int PredictedMessages::a_receiver_of(int sender) const {
    for (const int r : process_.graph->hearers(sender))
        if (view_.kind == View::Kind::all_messages || view_.has_member(r)) return r;
    return sender;
}

/// Adds the noise of a message that the view knows.
void PredictedMessages::add_known_noise(VectorXd& message,
                                        const SeenStep& step,
                                        int sender,
                                        int receiver) const {
    const VectorXd noise = step.known_noise(sender, receiver);
    if (noise.size() == 0) return;
    if (process_.correction == Correction::tracking)
        message += noise;
    else if (process_.plan->entry == NoiseEntry::gradient)
        message -= step_size() * noise;
    else
        message += noise;
}

VectorXd PredictedMessages::mixed(const MixingMatrix& mixing, int agent) const {
    VectorXd result = VectorXd::Zero(initial_.size());
    const auto members = mixing.members(agent);
    const auto weights = mixing.weights(agent);
    for (std::size_t j = 0; j < members.size(); ++j)
        if (weights[j] != 0) result += weights[j] * known_.col(members[j]);
    return result;
}

/// Known part of a message, if messages depend on the receiver.
VectorXd PredictedMessages::known_message(const SeenStep& step, int sender, int receiver) const {
    if (view_.has_member(sender)) return step.message(sender, receiver);
    VectorXd message = known_.col(sender);
    if (injects()) add_known_noise(message, step, sender, receiver);
    return message;
}

VectorXd PredictedMessages::known_sum(const SeenStep& step, int receiver) const {
    VectorXd sum = VectorXd::Zero(initial_.size());
    const MixingMatrix& mixing = mixing_at(round());
    const auto members = mixing.members(receiver);
    const auto weights = mixing.weights(receiver);
    for (std::size_t j = 0; j < members.size(); ++j)
        if (weights[j] != 0) sum += weights[j] * known_message(step, members[j], receiver);
    return sum;
}

/// Known part of an agent's messages after an exchange: here W m' - before m''.
VectorXd PredictedMessages::known_after_exchange(int agent) const {
    if (time_ == 0) return initial_;
    const GossipPolynomial& gossip = process_.gossip_of(process_.phases.front());
    const int made_by = static_cast<int>((time_ - 1) % gossip.steps());
    VectorXd message = mixed(mixing_at(injects() ? round() - 1 : round()), agent);
    if (gossip.plain()) return message;
    message *= gossip.here(made_by);
    if (gossip.before(made_by) != 0) message -= gossip.before(made_by) * known_before_.col(agent);
    if (time_ % gossip.steps() == 0 && gossip.combines())
        message = combined_.col(agent) + gossip.share(gossip.steps()) * message;
    return message;
}

/// Messages of members, and the known part of the others.
MatrixXd PredictedMessages::predicted_messages(const SeenStep& step) {
    MatrixXd predicted = known_;
    for (int u = 0; u < process_.plan->agents; ++u) {
        if (view_.has_member(u)) {
            predicted.col(u) = step.message(u, u);
            continue;
        }
        VectorXd message = known_after_exchange(u);
        if (injects() && process_.momentum != 0) {
            models_.col(u) = message;
            message -= step_size() * process_.momentum * directions_.col(u);
        }
        if (injects()) add_known_noise(message, step, u, u);
        predicted.col(u) = message;
    }
    return predicted;
}

/// Adds the messages of a step to the combination that its exchanges leave.
void PredictedMessages::combine_known() {
    const GossipPolynomial& gossip = process_.gossip_of(process_.phases.front());
    if (!gossip.combines()) return;
    if (time_ % gossip.steps() == 0) combined_ = MatrixXd::Zero(known_.rows(), known_.cols());
    combined_ += gossip.share(static_cast<int>(time_ % gossip.steps())) * known_;
}

MatrixXd PredictedMessages::messages_less_seen(const SeenStep& step) {
    MatrixXd predicted = predicted_messages(step);
    known_.swap(predicted);
    if (!process_.gossip_of(process_.phases.front()).plain()) known_before_ = std::move(predicted);
    std::vector<VectorXd> observed;
    if (view_.kind == View::Kind::secure_sum) {
        const MixingMatrix& mixing = mixing_at(round());
        for (const int a : view_.members) {
            const VectorXd missing = mixed(mixing, a) - mixing.weight(a, a) * known_.col(a);
            observed.push_back(missing - step.sum(a));
        }
        return as_rows(observed, initial_.size());
    }
    for (const int v : agents_.seen) {
        const VectorXd message = step.message(v, a_receiver_of(v));
        observed.push_back(known_.col(v) - message);
        known_.col(v) = message;
    }
    if (injects() && process_.momentum != 0) directions_ = (models_ - known_) / step_size();
    combine_known();
    return as_rows(observed, initial_.size());
}

/// The message of an agent whose earlier messages are all seen, without the round's contribution
/// and unknown noise.
VectorXd PredictedMessages::corrected_message(int agent) {
    const int steps = process_.gossip.steps();
    const auto exchange = static_cast<int>(time_ % process_.exchanges());
    const VectorXd mixed = known_after_exchange(agent);
    const bool tracks = process_.correction == Correction::tracking;
    if (exchange == 0) {
        models_.col(agent) = mixed;
        if (tracks) return carried_.col(agent) + (process_.momentum - 1) * directions_.col(agent);
        const double before =
            time_ == 0 ? step_size() : process_.step_sizes[static_cast<std::size_t>(round() - 1)];
        added_.col(agent) = step_size() / before * (mixed - carried_.col(agent));
        return mixed + added_.col(agent) - step_size() * process_.momentum * directions_.col(agent);
    }
    if (!tracks || exchange != steps) return mixed;
    carried_.col(agent) = mixed;
    return models_.col(agent) - step_size() * mixed;
}

/// What a message that has been seen says of its sender.
void PredictedMessages::take_corrected(int agent, const VectorXd& message) {
    if (!injects()) return;
    if (process_.correction == Correction::tracking) {
        directions_.col(agent) += message - carried_.col(agent);
        return;
    }
    carried_.col(agent) = message - added_.col(agent);
    directions_.col(agent) = (models_.col(agent) - carried_.col(agent)) / step_size();
}

MatrixXd PredictedMessages::corrected_less_seen(const SeenStep& step) {
    const bool of_directions = injects() && process_.correction == Correction::tracking;
    const double unit = of_directions ? -step_size() : 1;  // contributions enter y as they are
    MatrixXd messages = known_;
    std::vector<VectorXd> observed;
    for (int u = 0; u < process_.plan->agents; ++u) {
        VectorXd predicted = corrected_message(u);
        if (injects() && !view_.has_member(u)) add_known_noise(predicted, step, u, u);
        messages.col(u) = step.message(u, view_.has_member(u) ? u : a_receiver_of(u));
        take_corrected(u, messages.col(u));
        if (!view_.has_member(u)) observed.push_back(unit * (predicted - messages.col(u)));
    }
    known_.swap(messages);
    known_before_ = std::move(messages);
    combine_known();
    return as_rows(observed, initial_.size());
}

MatrixXd PredictedMessages::own_messages_less_seen(const SeenStep& step) {
    const MixingMatrix& mixing = mixing_at(round());
    std::vector<VectorXd> observed;
    if (view_.kind == View::Kind::secure_sum) {
        for (const int a : view_.members)
            observed.push_back(known_sum(step, a) - mixing.weight(a, a) * step.message(a, a) -
                               step.sum(a));
    } else {
        for (const int v : agents_.seen) {
            const bool same = !injects() || same_noise_to_all(*process_.plan, v);
            for (const int r : process_.graph->hearers(v)) {
                if (view_.kind == View::Kind::neighbours && !view_.has_member(r)) continue;
                observed.push_back(known_message(step, v, r) - step.message(v, r));
                if (same) break;
            }
        }
    }
    MatrixXd next = known_;
    for (const int a : unknown_agents()) next.col(a) = known_sum(step, a);
    known_ = std::move(next);
    return as_rows(observed, initial_.size());
}

}  // namespace sotto
