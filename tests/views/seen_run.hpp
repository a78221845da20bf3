#pragma once

#include <Eigen/Dense>
#include <map>
#include <utility>

#include "views/phase_fixtures.hpp"
#include "views/view_innovations.hpp"

namespace sotto::test {

/// A run without noise, played by its definition, of one phase with everybody there: what a view
/// sees of it.
class SeenRun {
  public:
    SeenRun(const MessageProcess& process, const View& view, Eigen::VectorXd initial)
        : process_(process),
          view_(view),
          messages_(initial.replicate(1, process.plan->agents)),
          models_(messages_),
          directions_(Eigen::MatrixXd::Zero(messages_.rows(), messages_.cols())),
          carried_(process.correction == Correction::tracking ? directions_ : messages_) {}

    /// The next gossip step. @param gradients of agents in this round, the same in all coordinates;
    /// in the first step of a round.
    SeenStep next(const std::map<int, double>& gradients) {
        const long round = time_ / process_.exchanges();
        mixing_ = &process_.phases.front().mixing.at(round);
        const int steps = process_.gossip.steps();
        const auto exchange = static_cast<int>(time_ % process_.exchanges());
        const Eigen::MatrixXd previous = messages_;
        messages_ = mixed_;
        if (exchange == 0) begin(static_cast<std::size_t>(round), gradients);
        if (exchange == steps) {  // with tracking
            carried_ = mixed_;
            messages_ = models_ - process_.step_sizes[static_cast<std::size_t>(round)] * carried_;
        }
        mixed_ = process_.gossip.here(exchange % steps) * messages_ * mixing_->dense().transpose() -
                 process_.gossip.before(exchange % steps) * previous;
        combine(process_.gossip, exchange % steps);
        ++time_;
        SeenStep step;
        step.message = [messages = messages_](int sender, int) -> Eigen::VectorXd {
            return messages.col(sender);
        };
        step.sum = [messages = messages_, mixing = mixing_](int member) -> Eigen::VectorXd {
            Eigen::VectorXd sum = Eigen::VectorXd::Zero(messages.rows());
            for (int v = 0; v < messages.cols(); ++v)
                if (v != member) sum += mixing->weight(member, v) * messages.col(v);
            return sum;
        };
        step.known_noise = [](int, int) { return Eigen::VectorXd(); };
        return step;
    }

  private:
    void combine(const GossipPolynomial& gossip, int exchange) {
        if (!gossip.combines()) return;
        if (exchange == 0) combined_ = gossip.share(0) * messages_;
        combined_ += gossip.share(exchange + 1) * mixed_;
        if (exchange + 1 == gossip.steps()) mixed_ = combined_;
    }
    /// Makes the first messages of a round from its models.
    void begin(std::size_t round, const std::map<int, double>& gradients) {
        const Eigen::MatrixXd before = directions_;
        directions_ *= process_.momentum;
        for (const auto& [agent, gradient] : gradients) directions_.col(agent).array() += gradient;
        models_ = mixed_;
        if (process_.correction == Correction::tracking) {
            messages_ = carried_ + directions_ - before;
            return;
        }
        const double step = process_.step_sizes[round];
        messages_ = models_ - step * directions_;
        if (process_.correction != Correction::exact_diffusion) return;
        const double last = round > 0 ? process_.step_sizes[round - 1] : step;
        const Eigen::MatrixXd psi = messages_;
        messages_ += step / last * (models_ - carried_);
        carried_ = psi;
    }

    const MessageProcess& process_;
    const View& view_;
    const MixingMatrix* mixing_ = nullptr;
    // Coordinates x agents: messages of an exchange, what it leaves, models before the round, u,
    // and what corrections and combinations keep.
    Eigen::MatrixXd messages_, models_, mixed_ = models_, directions_, carried_, combined_;
    long time_ = 0;
};

}  // namespace sotto::test
