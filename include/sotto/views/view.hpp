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
#include "sotto/privacy/step_schedule.hpp"

namespace sotto {

/// What an observer receives: messages of neighbours that are there. An agent that has departed
/// receives nothing more, and keeps what it knows. With a trusted mean every view sees the means
/// only. Besides, a coalition knows its members' gradients and noise, and the
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

/// A stretch of rounds in which the same agents are there, under one plan's noise.
struct Phase {
    long rounds = 1;
    MixingSchedule mixing;  ///< over all agents of the network; round 0 is the phase's first
    /// Ascending; they send nothing, add no noise and contribute nothing. In `mixing` they have
    /// weight 1 on themselves and nobody weighs them. They may come back in a later phase.
    std::vector<int> departed;
    /// Noise of the phase's own, independent of all before it: the temporal factor begins with its
    /// first round. Over all agents of the network, those who have departed too. Null: the
    /// process's plan, which runs on through phases that follow one another without a plan, and
    /// begins anew after one with a plan.
    const NoisePlan* plan = nullptr;
    /// Training rounds before the phase that are done again: every agent, departed or not, starts
    /// from the model it had before them. Their messages stay seen. From 0 to as many training
    /// rounds as there are; 0 in the first phase.
    long repeated = 0;
};

/// The messages of a run: m(t) = x(t) - eta_t (g(t) + v(t)), x(t+1) = W_t^K m(t), everything but g
/// known or Gaussian; with repeated rounds x(t) is an earlier one. t counts the rounds whose
/// messages were sent, repeated ones each time. Borrowed pointers outlive the object.
struct MessageProcess {
    const Graph* graph = nullptr;     ///< who receives whose messages
    const NoisePlan* plan = nullptr;  ///< v(t) of phases without a plan of their own
    std::vector<Phase> phases;
    int gossip_steps = 1;            ///< K: messages a round; gradients and noise enter the first
    std::vector<double> step_sizes;  ///< eta_t > 0, one a round; empty: all 1
    [[nodiscard]] long rounds() const;
    /// Of every round, which round of the training it is: a repeated one has the number it had.
    /// Participation goes by them. @throws ConfigError for more repeated rounds than there are.
    [[nodiscard]] std::vector<long> training_rounds() const;
};

/// The step sizes of such a process; empty where all are equal and a common factor changes nothing,
/// which is faster, and under Laplace noise, which is no such process. A training with
/// regularisation, x(t+1) = W^K ((1 - eta_t l2) x(t) - eta_t (g(t)
/// + v(t))), is such a process of x(t) / a_t with steps eta_t / a_t, a_t = prod_{s=1..t} (1 - eta_s
/// l2): who sees a message sees its multiples. (Round 0 starts from what everybody knows.) Running
/// averages, eta_t = 1/(t+1) and l2 = 1, have equal steps.
/// @throws ConfigError unless l2 >= 0 is finite; with l2 > 0 where noise enters the message, where
/// eta_t l2 >= 1 after round 0, and where a_t falls below 1e-6.
[[nodiscard]] std::vector<double> process_steps(const NoisePlan& plan,
                                                const StepSchedule& steps,
                                                double l2,
                                                long rounds);

/// Squared sensitivity of one target's contributions in a view, for unit changes a participation:
/// mu = Delta sqrt(value). In units of 1 / gradient unit^2: the noise has the plan's scale.
struct SquaredSensitivity {
    bool infinite = false;     ///< the view holds a noiseless function of the target's input
    double constant_sign = 0;  ///< sum of the Gram matrix: one attack, not a bound
    double abs_sum = 0;        ///< sum of absolute values ([U] Theorem 8): a bound
    double tight_lower = 0;    ///< attained by some contributions
    double tight_upper = 0;    ///< certified by the dual
    /// All messages seen: sens2(C_time) [(R^(I))^-1]_uu; where plans change, the largest over
    /// participation patterns of the sum over plans. Infinite if not a bound.
    double trivial = 0;
    /// What mu is made of: min(tight_upper, abs_sum, trivial); infinity where `infinite`.
    [[nodiscard]] double certified() const;
    /// Of a view that holds a noiseless function of the target's input: every figure infinite.
    [[nodiscard]] static SquaredSensitivity unbounded();
    /// Where nothing but the figure of all messages is known; may be infinite.
    [[nodiscard]] static SquaredSensitivity all_messages(double trivial);
};

/// Components of a unit input larger than this in what the noise does not cover are seen without
/// noise.
inline constexpr double seen_without_noise = 1e-9;

struct ViewOptions {
    int threads = 1;
    double tight_gap = 1e-5;  ///< relative gap at which the tight sensitivity is good enough
};

/// Exact sensitivities of `targets` in one view (docs/equations.md 8), all from one Kalman filter.
/// Noise that depends on the receiver, enters the message, or is correlated over rounds is covered;
/// `trivial` is a bound only where every receiver gets the same message.
/// @return one entry per target; targets that belong to the view's members are infinite, and those
/// with a component above 1e-9 in what the noise does not cover.
/// @throws ConfigError for members or targets that do not exist or have departed in every phase,
/// phases or step sizes that do not fit (plans for other numbers of agents, more repeated rounds
/// than there are), a temporal factor without short memory where more than 12000 values are
/// observed; PrivacyError for noise without a known bound: Laplace, phases whose plans differ in
/// where noise enters, who combines messages or whether receivers get the same, a trusted mean that
/// somebody with noise has left. Cost: with s hidden agents (and s more per lag of correlated
/// noise, and per round whose models are needed again) and p observed values a round, O(T (s^2 p +
/// p^3)) once, and the least of several ways for the targets (docs/equations.md 8); memory O(s^2 +
/// T s p) and about 0.5 GB of Gram matrices in flight, up to 1.5 GB more for long runs. Safe to
/// call from several threads.
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
/// @param training_rounds of every row, 0 or more (MessageProcess::training_rounds); empty: 0, 1,
/// 2, ...  @throws ConfigError for sizes that do not fit, DataError for values that are not finite.
[[nodiscard]] SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                                  const Participation& participation,
                                                  double tight_gap,
                                                  std::span<const long> training_rounds = {});

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
/// min(T, sum_{s=1..T} sum_{k=0..T-s} sum_{w in N(a)} (W^k)_wu^2 / |(W^k)_w.|^2).
/// @return one per target, for one observer.  Cost O(T edges degree).
/// @throws ConfigError for an observer that does not exist or fewer than 1 round.
[[nodiscard]] Eigen::VectorXd muffliato_bound(const Graph& graph,
                                              const MixingMatrix& mixing,
                                              int observer,
                                              long rounds);

}  // namespace sotto
