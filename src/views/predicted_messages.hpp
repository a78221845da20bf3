#pragma once

#include <Eigen/Dense>
#include <vector>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"
#include "sotto/views/view_innovations.hpp"
#include "views/phase_agents.hpp"

namespace sotto {

/// What a view can say about messages before it sees them: the known terms that its
/// ObservationModel leaves out.
class PredictedMessages {
  public:
    /// @param process of one phase with everybody there, with step sizes; with momentum a view of
    /// all messages, the same to all, whose noise is on gradients. @param initial model of every
    /// agent, d. Process and view outlive the object.
    PredictedMessages(const MessageProcess& process, const View& view, Eigen::VectorXd initial);

    /// y of the model in the next gossip step: what was predicted from all that is known, less what
    /// was seen, so that contributions count with their sign. observed x d; steps in order.
    [[nodiscard]] Eigen::MatrixXd less_seen(const SeenStep& step);

    /// Agents that are not members.
    [[nodiscard]] const std::vector<int>& unknown_agents() const { return agents_.others.agents; }
    [[nodiscard]] Eigen::Index dimension() const { return initial_.size(); }

  private:
    [[nodiscard]] long round() const { return time_ / process_.gossip.steps(); }
    [[nodiscard]] bool injects() const { return time_ % process_.gossip.steps() == 0; }
    [[nodiscard]] double step_size() const {
        return process_.step_sizes[static_cast<std::size_t>(round())];
    }
    [[nodiscard]] const MixingMatrix& mixing_at(long round) const;
    [[nodiscard]] int a_receiver_of(int sender) const;
    void add_known_noise(Eigen::VectorXd& message,
                         const SeenStep& step,
                         int sender,
                         int receiver) const;
    [[nodiscard]] Eigen::VectorXd mixed(const MixingMatrix& mixing, int agent) const;
    [[nodiscard]] Eigen::VectorXd known_after_exchange(int agent) const;
    [[nodiscard]] Eigen::VectorXd known_message(const SeenStep& step,
                                                int sender,
                                                int receiver) const;
    [[nodiscard]] Eigen::VectorXd known_sum(const SeenStep& step, int receiver) const;
    [[nodiscard]] Eigen::MatrixXd predicted_messages(const SeenStep& step);
    [[nodiscard]] Eigen::MatrixXd messages_less_seen(const SeenStep& step);
    [[nodiscard]] Eigen::MatrixXd own_messages_less_seen(const SeenStep& step);

    const MessageProcess& process_;
    const View& view_;
    Eigen::VectorXd initial_;
    bool same_to_all_;
    PhaseAgents agents_;
    long time_ = 0;
    /// d x agents. Where all receivers get the same message: messages, seen ones as they are, of
    /// the others what is known of them; else what is known of models.
    Eigen::MatrixXd known_;
    Eigen::MatrixXd known_before_;  ///< known_ of one exchange earlier, where gossip is not plain
    /// With momentum, d x agents: models before the round, and what they moved along in the round
    /// before, u(t-1) = (x - m) / eta.
    Eigen::MatrixXd models_, directions_;
};

}  // namespace sotto
