#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/names.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// What the target contributes over the rounds.
enum class SignPattern {
    constant,  ///< +1 in the participation pattern whose rounds together tell most
    random,    ///< as constant, with random signs
    worst      ///< the signs that the view tells apart best, as far as a search finds them
};
inline constexpr NameTable<SignPattern, 3> sign_patterns{{{{SignPattern::constant, "constant"},
                                                           {SignPattern::random, "random"},
                                                           {SignPattern::worst, "worst"}}}};

/// One pattern by its name, or "all". @throws ConfigError for another.
[[nodiscard]] std::vector<SignPattern> parse_hypothesis(const std::string& text);

/// s_t in {-1, 0, 1}, 0 in rounds without participation; `rounds` of them.
/// @param gram of the target's contributions (view_gram), rounds x rounds; without one
/// participation starts in round 0, and the worst signs are random ones.  @param seed of random
/// signs.
[[nodiscard]] Eigen::VectorXd make_signs(SignPattern pattern,
                                         const std::optional<Eigen::MatrixXd>& gram,
                                         Eigen::Index rounds,
                                         const Participation& participation,
                                         std::uint64_t seed);

}  // namespace sotto
