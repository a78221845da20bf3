#pragma once

#include <Eigen/Dense>
#include <map>
#include <utility>

#include "sotto/views/view_innovations.hpp"
#include "views/phase_fixtures.hpp"

namespace sotto::test {

/// A run without noise, played by its definition, of one phase with everybody there: what a view
/// sees of it.
class SeenRun {
  public:
    SeenRun(const MessageProcess& process, const View& view, Eigen::VectorXd initial)
        : process_(process),
          view_(view),
          messages_(initial.replicate(1, process.plan->agents)),
          models_(messages_) {}

    /// The next gossip step. @param gradients of agents in this round, the same in all coordinates;
    /// in the first step of a round.
    SeenStep next(const std::map<int, double>& gradients) {
        const long round = time_ / process_.gossip_steps;
        mixing_ = &process_.phases.front().mixing.at(round);
        messages_ = models_;
        for (const auto& [agent, gradient] : gradients)
            messages_.col(agent).array() -=
                process_.step_sizes[static_cast<std::size_t>(round)] * gradient;
        models_ = messages_ * mixing_->dense().transpose();
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
    const MessageProcess& process_;
    const View& view_;
    const MixingMatrix* mixing_ = nullptr;
    Eigen::MatrixXd messages_, models_;  // coordinates x agents
    long time_ = 0;
};

}  // namespace sotto::test
