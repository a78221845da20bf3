#pragma once

// What is known in closed form of a loss: its Gaussian and pure parts; not installed.

namespace sotto {

/// Gaussian parts with this mu^2 and pure ones with this epsilon (class comment of PrivacyLoss).
struct ExactParts {
    double mu_squared = 0;
    double pure = 0;

    [[nodiscard]] bool nothing() const { return mu_squared == 0 && pure == 0; }
};

/// E over their loss X of (1 - e^(epsilon - X))+, for every finite epsilon, negative ones too.
[[nodiscard]] double exact_delta(const ExactParts& parts, double epsilon);
/// Its logarithm, where it is too small for a double, too.
[[nodiscard]] double log_exact_delta(const ExactParts& parts, double epsilon);
/// log E e^(tilt X).  @param tilt 0 or more.
[[nodiscard]] double exact_log_moment(const ExactParts& parts, double tilt);

}  // namespace sotto
