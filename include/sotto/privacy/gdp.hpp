#pragma once

#include <string_view>

namespace sotto {

/// @throws ConfigError unless 0 < delta < 1; a NaN fails.
void require_delta(std::string_view option, double delta);
/// @throws ConfigError unless epsilon is finite and not negative; a NaN fails.
void require_epsilon(double epsilon);

/// Gaussian differential privacy: a mechanism is mu-GDP when telling two neighbouring inputs apart
/// is no easier than telling N(0, 1) from N(mu, 1). All functions are pure, accurate to about 1e-9
/// relative for epsilon in [1e-3, 1e3] and delta in [1e-12, 1), and throw ConfigError outside
/// mu >= 0, epsilon >= 0, delta in (0, 1). mu may be infinite (epsilon is then infinite).

/// delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), the exact curve.
[[nodiscard]] double gdp_delta(double mu, double epsilon);
/// Smallest epsilon >= 0 with gdp_delta(mu, epsilon) <= delta.
[[nodiscard]] double gdp_epsilon(double mu, double delta);
/// Largest mu whose gdp_epsilon(mu, delta) is epsilon. @param epsilon > 0.
[[nodiscard]] double gdp_mu(double epsilon, double delta);

/// Conversion through Renyi divergence ([W], [C] Theorem 2): mu^2/2 + mu sqrt(2 log(1/delta));
/// never below gdp_epsilon.
[[nodiscard]] double rdp_epsilon(double mu, double delta);
/// Inverse of rdp_epsilon in mu.
[[nodiscard]] double rdp_mu(double epsilon, double delta);
/// The papers' simplified bound ([W] eq. 10b): mu = epsilon / (2 sqrt(log(1/delta))). Not valid for
/// large epsilon; make_budget refuses it there.
[[nodiscard]] double paper_mu(double epsilon, double delta);

}  // namespace sotto
