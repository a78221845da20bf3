#include "views/predicted_messages.hpp"

#include <utility>

#include "views/noise_sources.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Vectors of `columns` entries, one a row.
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
    if (process.momentum == 0) return;
    models_ = known_;
    directions_ = MatrixXd::Zero(known_.rows(), known_.cols());
}

MatrixXd PredictedMessages::less_seen(const SeenStep& step) {
    MatrixXd observed = same_to_all_ ? messages_less_seen(step) : own_messages_less_seen(step);
    ++time_;
    return observed;
}

const MixingMatrix& PredictedMessages::mixing_at(long round) const {
    return process_.phases.front().mixing.at(round);
}

/// Who gets the message of a sender that the view reads.
int PredictedMessages::a_receiver_of(int sender) const {
    for (const int r : process_.graph->hearers(sender))
        if (view_.kind == View::Kind::all_messages || view_.has_member(r)) return r;
    return sender;
}

/// What noise the view knows does to a message.
void PredictedMessages::add_known_noise(VectorXd& message,
                                        const SeenStep& step,
                                        int sender,
                                        int receiver) const {
    const VectorXd noise = step.known_noise(sender, receiver);
    if (noise.size() == 0) return;
    if (process_.plan->entry == NoiseEntry::gradient)
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

/// Of a model that is known in part, where receivers get messages of their own.
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

/// Of what an exchange made of an agent's messages: here W m' - before m''.
VectorXd PredictedMessages::known_after_exchange(int agent) const {
    if (time_ == 0) return initial_;
    const GossipPolynomial& gossip = process_.gossip_of(process_.phases.front());
    const int made_by = static_cast<int>((time_ - 1) % gossip.steps());
    VectorXd message = mixed(mixing_at(injects() ? round() - 1 : round()), agent);
    if (gossip.plain()) return message;
    message *= gossip.here(made_by);
    if (gossip.before(made_by) != 0) message -= gossip.before(made_by) * known_before_.col(agent);
    return message;
}

/// Messages of members as they are, of the others what is known of them.
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
