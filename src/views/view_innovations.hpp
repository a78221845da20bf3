#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sotto/views/view_record.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// What a view saw in one gossip step, of d coordinates that are separate models.
struct SeenStep {
    /// The message of `sender` received by `receiver`, d; called for members' own messages
    /// (including their own copy) and for those the view receives.
    std::function<Eigen::VectorXd(int sender, int receiver)> message;
    /// Secure sums: sum_v w_av m_v over the neighbours v of member a, without its own message, d.
    std::function<Eigen::VectorXd(int member)> sum;
    /// The part of v(t) of a sender outside the coalition that the view can compute from its seeds,
    /// d; 0 rows if none. Called in step 0 of a round.
    std::function<Eigen::VectorXd(int sender, int receiver)> known_noise;
};

/// Checks that ViewInnovations supports a view of a process.
/// @throws ConfigError and PrivacyError as its constructor, except for unsupported noise.
void require_testable(const MessageProcess& process, const View& view);

/// The accountant's Kalman filter on observed messages (docs/equations.md#partial-views): whitened
/// innovations, which are independent standard normal variables plus the effect of contributions,
/// and that effect. The likelihood ratio between two contributions of an agent is a function of
/// their product: the optimal test.
class ViewInnovations {
  public:
    /// @param process one phase without its own plan or departed agents, with step_sizes (messages
    /// are in their units). Covers its rounds, not final gossip.
    /// @throws ConfigError as view_sensitivity; for a trusted mean, and for momentum, corrections
    /// and optimal gossip in a view that does not show all messages.
    ViewInnovations(const MessageProcess& process, const View& view, Eigen::VectorXd initial);
    ~ViewInnovations();
    ViewInnovations(ViewInnovations&&) noexcept;
    ViewInnovations& operator=(ViewInnovations&&) = delete;
    ViewInnovations(const ViewInnovations&) = delete;
    ViewInnovations& operator=(const ViewInnovations&) = delete;

    /// Whitened innovations of one gossip step.
    struct Innovation {
        Eigen::MatrixXd whitened;   ///< rank x coordinates
        Eigen::MatrixXd noiseless;  ///< components without noise, rows x coordinates; 0 without
                                    ///< contributions
    };
    /// Of the next gossip step, in order. Cost O(state (state + observed) d).
    [[nodiscard]] Innovation next(const SeenStep& seen);

    /// Innovations of all gossip steps, stacked, from a contribution g_u(t) = contributions(t, j)
    /// of agent agents[j] to one coordinate: one column per agent. May be called at any time. Cost
    /// O(T state (state + observed) agents).
    [[nodiscard]] Innovation responses(std::span<const int> agents,
                                       const Eigen::MatrixXd& contributions) const;

    [[nodiscard]] long gossip_steps_total() const;
    /// Agents outside the coalition, whose inputs are unknown.
    [[nodiscard]] const std::vector<int>& unknown_agents() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A view's prediction of messages: the known terms that its ObservationModel leaves out.
class PredictedMessages {
  public:
    /// @param process of one phase with all agents and step sizes; momentum and a correction only
    /// for a view of all messages, the same to all, with noise on gradients.
    /// @param initial model of every agent, d. Process and view must outlive the object.
    PredictedMessages(const MessageProcess& process, const View& view, Eigen::VectorXd initial);

    /// y of the model in the next gossip step: prediction minus observation, so that contributions
    /// have their sign. observed x d; call steps in order.
    [[nodiscard]] Eigen::MatrixXd less_seen(const SeenStep& step);

    /// Agents outside the coalition.
    [[nodiscard]] const std::vector<int>& unknown_agents() const { return agents_.others.agents; }
    [[nodiscard]] Eigen::Index dimension() const { return initial_.size(); }

  private:
    [[nodiscard]] long round() const { return time_ / process_.exchanges(); }
    [[nodiscard]] bool injects() const { return time_ % process_.exchanges() == 0; }
    [[nodiscard]] bool corrected() const { return process_.correction != Correction::none; }
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
    void combine_known();
    [[nodiscard]] Eigen::MatrixXd messages_less_seen(const SeenStep& step);
    [[nodiscard]] Eigen::MatrixXd corrected_less_seen(const SeenStep& step);
    [[nodiscard]] Eigen::VectorXd corrected_message(int agent);
    void take_corrected(int agent, const Eigen::VectorXd& message);
    [[nodiscard]] Eigen::MatrixXd own_messages_less_seen(const SeenStep& step);

    const MessageProcess& process_;
    const View& view_;
    Eigen::VectorXd initial_;
    bool same_to_all_;
    PhaseAgents agents_;
    long time_ = 0;
    /// d x agents. If all receivers get the same message: seen messages, and the known part of the
    /// others; otherwise the known part of models.
    Eigen::MatrixXd known_;
    Eigen::MatrixXd known_before_;  ///< known_ one exchange earlier, if gossip is not plain
    Eigen::MatrixXd combined_;      ///< of messages of these exchanges, if gossip combines them
    /// With momentum, d x agents: models before the round, and the previous round's direction,
    /// u(t-1) = (x - m) / eta.
    Eigen::MatrixXd models_, directions_;
    /// With a correction, d x agents: psi or y; what exact diffusion adds in the round; and the
    /// messages that the present exchanges began with.
    Eigen::MatrixXd carried_, added_;
};

}  // namespace sotto
