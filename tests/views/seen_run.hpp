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
          directions_(Eigen::MatrixXd::Zero(messages_.rows(), messages_.cols())) {}

    /// The next gossip step. @param gradients of agents in this round, the same in all coordinates;
    /// in the first step of a round.
    SeenStep next(const std::map<int, double>& gradients) {
        const long round = time_ / process_.gossip.steps();
        mixing_ = &process_.phases.front().mixing.at(round);
        const auto exchange = static_cast<int>(time_ % process_.gossip.steps());
        const Eigen::MatrixXd previous = messages_;
        messages_ = models_;
        if (exchange == 0) {
            directions_ *= process_.momentum;
            for (const auto& [agent, gradient] : gradients)
                directions_.col(agent).array() += gradient;
            messages_ -= process_.step_sizes[static_cast<std::size_t>(round)] * directions_;
        }
        models_ = process_.gossip.here(exchange) * messages_ * mixing_->dense().transpose() -
                  process_.gossip.before(exchange) * previous;
        combine(process_.gossip, exchange);
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
        combined_ += gossip.share(exchange + 1) * models_;
        if (exchange + 1 == gossip.steps()) models_ = combined_;
    }

    const MessageProcess& process_;
    const View& view_;
    const MixingMatrix* mixing_ = nullptr;
    Eigen::MatrixXd messages_, models_, directions_, combined_;  // coordinates x agents
    long time_ = 0;
};

}  // namespace sotto::test
