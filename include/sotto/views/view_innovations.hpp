#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"

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

}  // namespace sotto
