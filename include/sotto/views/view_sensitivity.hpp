#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/message_process.hpp"
#include "sotto/views/squared_sensitivity.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

struct ViewOptions {
    int threads = 1;
    double tight_gap = 1e-5;  ///< relative gap at which the tight sensitivity is good enough
};

/// Whether view_sensitivity knows a view's own figures: not of partial views with momentum or final
/// gossip, which show more than the messages it follows. All messages show nothing new then.
[[nodiscard]] bool has_exact_figures(const MessageProcess& process, const View& view);

/// Exact sensitivities of `targets` in one view (docs/equations.md 8), all from one Kalman filter.
/// Noise that depends on the receiver, enters the message, or is correlated over rounds is covered;
/// `trivial` is a bound only where every receiver gets the same message.
/// @return one entry per target; targets that belong to the view's members are infinite, and those
/// with a component above seen_without_noise in what the noise does not cover.
/// @throws ConfigError for members or targets that do not exist or have departed in every phase,
/// phases or step sizes that do not fit (plans for other numbers of agents, more repeated rounds
/// than there are), a temporal factor without short memory where more than 12000 values are
/// observed; PrivacyError without has_exact_figures (view_losses has a bound), for momentum
/// with noise on messages, for momentum, final gossip and Chebyshev gossip where receivers get
/// messages of their own, and for noise without a known bound: Laplace, phases whose plans differ
/// in where noise enters, who combines messages or whether receivers get the same, a trusted mean
/// that somebody with noise has left. Cost: with s hidden agents (and s more per lag of correlated
/// noise, for Chebyshev gossip, and per round whose models are needed again) and p observed values
/// a round, O(T (s^2 p + p^3)) once, and the least of several ways for the targets
/// (docs/equations.md 8); memory O(s^2 + T s p) and about 0.5 GB of Gram matrices in flight, up
/// to 1.5 GB more for long runs. Safe to call from several threads.
[[nodiscard]] std::vector<SquaredSensitivity> view_sensitivity(const MessageProcess& process,
                                                               const View& view,
                                                               std::span<const int> targets,
                                                               const Participation& participation,
                                                               const ViewOptions& options);

/// The Gram matrix itself (rounds x rounds) of one target; nothing where it is infinite. For tests,
/// pictures and the audit.
[[nodiscard]] std::optional<Eigen::MatrixXd> view_gram(const MessageProcess& process,
                                                       const View& view,
                                                       int target);

}  // namespace sotto
