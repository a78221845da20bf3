#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sotto/views/view_record.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// What a view saw in one gossip step of a round, of d coordinates that are models of their own.
struct SeenStep {
    /// The message of `sender` that `receiver` got, d; asked for members' own messages (their own
    /// copy too) and for those the view receives.
    std::function<Eigen::VectorXd(int sender, int receiver)> message;
    /// Secure sums: sum_v w_av m_v over the neighbours v of member a, without its own message, d.
    std::function<Eigen::VectorXd(int member)> sum;
    /// The part of v(t) that the view can compute from seeds it holds, of a sender that is not a
    /// member, d; nothing (0 rows) where it knows none. Asked for in step 0 of a round.
    std::function<Eigen::VectorXd(int sender, int receiver)> known_noise;
};

/// Whether ViewInnovations can follow what a view sees of the rounds of a process.
/// @throws ConfigError and PrivacyError as its constructor, but for noise it is not made for.
void require_testable(const MessageProcess& process, const View& view);

/// The accountant's Kalman filter run on what a view really saw (docs/equations.md 8): whitened
/// innovations, which are independent standard normal variables beside what agents contribute, and
/// what a contribution looks like in them. The likelihood ratio between two contributions of an
/// agent is a function of their product, and no test is better.
class ViewInnovations {
  public:
    /// @param process one phase without a plan of its own, nobody departed; step_sizes given
    /// (messages are in their units). Its rounds only: not what is exchanged after the last.
    /// @throws ConfigError as view_sensitivity; for a process with a trusted mean, and for momentum
    /// in a view that does not show all messages.
    ViewInnovations(const MessageProcess& process, const View& view, Eigen::VectorXd initial);
    ~ViewInnovations();
    ViewInnovations(ViewInnovations&&) noexcept;
    ViewInnovations& operator=(ViewInnovations&&) = delete;
    ViewInnovations(const ViewInnovations&) = delete;
    ViewInnovations& operator=(const ViewInnovations&) = delete;

    /// Whitened innovations of one gossip step.
    struct Innovation {
        Eigen::MatrixXd whitened;   ///< rank x coordinates
        Eigen::MatrixXd noiseless;  ///< what no noise covers, rows x coordinates; 0 beside
                                    ///< contributions
    };
    /// Of the next gossip step; steps in order. Cost O(state (state + observed) d).
    [[nodiscard]] Innovation next(const SeenStep& seen);

    /// Innovations of all gossip steps, one below the other, that a contribution g_u(t) =
    /// contributions(t, j) of agent agents[j] to one coordinate makes: columns as `agents`. In any
    /// state of the object. Cost O(T state (state + observed) agents).
    [[nodiscard]] Innovation responses(std::span<const int> agents,
                                       const Eigen::MatrixXd& contributions) const;

    [[nodiscard]] long gossip_steps_total() const;
    /// Agents that may contribute unknown inputs: not members.
    [[nodiscard]] const std::vector<int>& unknown_agents() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

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
