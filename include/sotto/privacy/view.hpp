#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// What an observer receives. Besides, a coalition knows its members' gradients and noise, and the
/// noise of every stream whose seed a member holds.
struct View {
    enum class Kind {
        all_messages,  ///< every message of every agent; members may be empty (the eavesdropper)
        neighbours,    ///< what the neighbours of the members send to them (node, coalition)
        secure_sum     ///< only the weighted sums of the members' closed neighbourhoods
    };
    Kind kind = Kind::all_messages;
    std::vector<int> members;  ///< ascending

    /// Why the figure holds: for training only `all_messages` bounds adaptive gradients
    /// (docs/equations.md 8); every view is exact for inputs fixed in advance.
    [[nodiscard]] bool sound_for_training() const { return kind == Kind::all_messages; }
};

/// A stretch of rounds in which the same agents are there.
struct Phase {
    long rounds = 1;
    MixingSchedule mixing;  ///< over all agents of the network; round 0 is the phase's first
    std::vector<int>
        departed;  ///< ascending; they send nothing, add nothing and contribute nothing
};

/// The messages of a run: m(t) = x(t) - eta_t (g(t) + v(t)), x(t+1) = W_t^K m(t), everything but g
/// known or Gaussian. Borrowed pointers outlive the object.
struct MessageProcess {
    const Graph* graph = nullptr;     ///< who receives whose messages
    const NoisePlan* plan = nullptr;  ///< v(t); its temporal factor spans all rounds of all phases
    std::vector<Phase> phases;
    int gossip_steps = 1;            ///< K: messages a round; gradients and noise enter the first
    std::vector<double> step_sizes;  ///< eta_t > 0, one a round; empty: all 1
    [[nodiscard]] long rounds() const;
};

/// Squared sensitivity of one target's contributions in a view, for unit changes a participation:
/// mu = Delta sqrt(value). In units of 1 / gradient unit^2: the noise has the plan's scale.
struct SquaredSensitivity {
    bool infinite = false;     ///< the view holds a noiseless function of the target's input
    double constant_sign = 0;  ///< sum of the Gram matrix: one attack, not a bound
    double abs_sum = 0;        ///< sum of absolute values ([U] Theorem 8): a bound
    double tight_lower = 0;    ///< attained by some contributions
    double tight_upper = 0;    ///< certified by the dual
    double trivial =
        0;  ///< sens2(C_time) [(R^(I))^-1]_uu: all messages seen; infinite if not a bound
    /// What mu is made of: min(tight_upper, abs_sum, trivial); infinity where `infinite`.
    [[nodiscard]] double certified() const;
};

struct ViewOptions {
    int threads = 1;
    double tight_gap = 1e-5;  ///< relative gap at which the tight sensitivity is good enough
};

/// Exact sensitivities of `targets` in one view (docs/equations.md 8), all from one Kalman filter.
/// @return one entry per target; targets that belong to the view's members are infinite.
/// @throws ConfigError for members or targets that do not exist or have departed, phases or step
/// sizes that do not fit; PrivacyError for noise without a known bound (Laplace).
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

/// Sensitivities of a Gram matrix: constant sign, sum of absolute values and the certified tight
/// one, each the largest over participation patterns. `trivial` is infinity.
[[nodiscard]] SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                                  const Participation& participation,
                                                  double tight_gap);

/// The same for observations O = A G + B Z given as matrices ([U] definition 5): rows of A and B
/// are observed values, columns of A are contributions (round t, agent u) at t * agents + u,
/// columns of B independent unit normals. Dense: O(rows^2 columns). @throws ConfigError for sizes
/// that do not fit, DataError for values that are not finite.
[[nodiscard]] std::vector<SquaredSensitivity> matrix_sensitivity(const Eigen::MatrixXd& a,
                                                                 const Eigen::MatrixXd& b,
                                                                 int agents,
                                                                 std::span<const int> targets,
                                                                 const Participation& participation,
                                                                 double tight_gap);

/// [U] 7.1, Muffliato with one gossip step, in squared sensitivity at unit noise, for comparison:
/// min(T, sum_{s<=T} sum_{k<=T-s} sum_{w in N(a)} (W^k)_wu^2 / |(W^k)_w.|^2).
/// @return one per target, for one observer.  Cost O(T edges n).
[[nodiscard]] Eigen::VectorXd muffliato_bound(const Graph& graph,
                                              const MixingMatrix& mixing,
                                              int observer,
                                              long rounds);

}  // namespace sotto
