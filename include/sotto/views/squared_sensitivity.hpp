#pragma once

namespace sotto {

/// Components of a unit input larger than this in what the noise does not cover are seen without
/// noise.
inline constexpr double seen_without_noise = 1e-9;

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

}  // namespace sotto
