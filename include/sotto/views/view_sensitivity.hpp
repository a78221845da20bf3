#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Components of a unit input above this outside the range of the noise are seen without noise.
inline constexpr double seen_without_noise = 1e-9;

/// Squared sensitivity of one target's contributions in a view, for unit changes a participation:
/// mu = Delta sqrt(value). In 1 / gradient unit^2: the noise has the plan's scale.
struct SquaredSensitivity {
    bool infinite = false;     ///< the view contains a noiseless function of the target's input
    double constant_sign = 0;  ///< sum of the Gram matrix: one attack, not a bound
    double abs_sum = 0;        ///< sum of absolute values ([U] Theorem 8): a bound
    double tight_lower = 0;    ///< attained by some contributions
    double tight_upper = 0;    ///< certified by the dual
    /// With all messages seen: sens2(C_time) [(R^(I))^-1]_uu; with several plans, the largest sum
    /// over plans among participation patterns. Infinite if not a bound.
    double trivial = 0;
    /// The value that mu uses: min(tight_upper, abs_sum, trivial); infinity if `infinite`.
    [[nodiscard]] double certified() const;
    /// Every figure infinite.
    [[nodiscard]] static SquaredSensitivity unbounded();
    /// Only the figure of all messages is known; may be infinite.
    [[nodiscard]] static SquaredSensitivity all_messages(double trivial);
};

/// What inputs follow from.
enum class Inputs {
    adaptive,  ///< messages: a training
    fixed,     ///< nothing in the run: averaging
    convex     ///< messages, through convex and smooth losses, with steps of at most 2 / smoothness
};

struct ViewOptions {
    int threads = 1;
    double tight_gap = 1e-5;  ///< relative gap at which the search for the tight sensitivity stops
    Inputs inputs = Inputs::adaptive;  ///< convex: view_losses bounds partial views by it
};

/// Whether view_sensitivity knows a view's own figures: not for partial views with momentum or
/// final gossip, which show more than the messages it models.
[[nodiscard]] bool has_exact_figures(const MessageProcess& process, const View& view);

/// Exact sensitivities of `targets` in one view (docs/equations.md#partial-views), all from one
/// Kalman filter. Covers noise that depends on the receiver, enters the message, or is correlated
/// over rounds; `trivial` is a bound only if every receiver gets the same message.
/// @return one entry per target; infinite for members of the view and for targets with a component
/// above seen_without_noise outside the range of the noise.
/// @throws ConfigError for members or targets that do not exist or have departed in every phase,
/// phases or step sizes that do not fit (plans for other numbers of agents, too many repeated
/// rounds), a temporal factor without short memory where more than 12000 values are observed;
/// PrivacyError without has_exact_figures (view_losses has a bound), for momentum with noise on
/// messages, for momentum, final gossip and Chebyshev gossip with messages that depend on the
/// receiver, and for noise without a known bound: Laplace, phases whose plans differ in where noise
/// enters, who combines messages or whether receivers get the same, a trusted mean that an agent
/// with noise has left.
///
/// Cost: with s hidden agents (s more per lag of correlated noise, for Chebyshev gossip, and per
/// round whose models are needed again) and p observed values a round, O(T (s^2 p + p^3)) once, and
/// the least of several ways for the targets (docs/equations.md#partial-views); memory O(s^2 + T s
/// p) and about 0.5 GB of Gram matrices in flight, up to 1.5 GB more for long runs. Safe to call
/// from several threads.
[[nodiscard]] std::vector<SquaredSensitivity> view_sensitivity(const MessageProcess& process,
                                                               const View& view,
                                                               std::span<const int> targets,
                                                               const Participation& participation,
                                                               const ViewOptions& options);

/// Gram matrix (rounds x rounds) of one target; nothing if infinite. For tests, figures and the
/// audit.
[[nodiscard]] std::optional<Eigen::MatrixXd> view_gram(const MessageProcess& process,
                                                       const View& view,
                                                       int target);

/// Sensitivities of observations O = A G + B Z given as matrices ([U] definition 5): rows of A and
/// B are observed values, columns of A are contributions (round t, agent u) at t * agents + u,
/// columns of B independent unit normals. Dense: O(rows^2 columns).
/// @throws ConfigError for sizes that do not fit, DataError for values that are not finite.
[[nodiscard]] std::vector<SquaredSensitivity> matrix_sensitivity(const Eigen::MatrixXd& a,
                                                                 const Eigen::MatrixXd& b,
                                                                 int agents,
                                                                 std::span<const int> targets,
                                                                 const Participation& participation,
                                                                 double tight_gap);

}  // namespace sotto
