#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

/// What a liar sends in place of its message (Liars).
enum class LieKind {
    sign_flip,      ///< its update with the other sign, times the strength
    noise,          ///< noise in place of its update, so many times as large
    little,         ///< the mean of what it hears less so many standard deviations, by coordinate
    inner_product,  ///< the mean update that it hears with the other sign, times the strength
    label_flip,     ///< its gradient with the other sign, times the strength, with its usual noise
    no_pair_noise,  ///< its message without the noise that it shares with others
    wrong_sign      ///< its message, with the other sign before the noise that it shares
};
inline constexpr NameTable<LieKind, 7> lie_kinds{{{{LieKind::sign_flip, "sign-flip"},
                                                   {LieKind::noise, "noise"},
                                                   {LieKind::little, "little"},
                                                   {LieKind::inner_product, "inner-product"},
                                                   {LieKind::label_flip, "label-flip"},
                                                   {LieKind::no_pair_noise, "no-pair-noise"},
                                                   {LieKind::wrong_sign, "wrong-sign"}}}};
/// 1 for kinds that have none.
[[nodiscard]] double usual_strength(LieKind kind);

struct Lie {
    LieKind kind = LieKind::sign_flip;
    std::vector<int> agents;  ///< numbers, ascending
    double strength = 1;
    [[nodiscard]] bool operator==(const Lie&) const = default;
};

/// What agents do wrong in an experiment (--faults): they are silent in some rounds, slow, or lie.
struct RoundFaults {
    double silent = 0;  ///< probability with which an agent leaves out its message
    /// Agents whose gradients take so many times as long.
    std::vector<std::pair<int, double>> slow;
    std::vector<Lie> lies{};
    [[nodiscard]] bool none() const { return silent == 0 && slow.empty() && lies.empty(); }
    [[nodiscard]] bool operator==(const RoundFaults&) const = default;

    /// Whether the agent sends nothing in this round: independent over agents and rounds, and the
    /// same on every process. @param seed of the run.
    [[nodiscard]] bool is_silent(std::uint64_t seed, long round, int agent) const;
    /// 1 for an agent that is not slow.
    [[nodiscard]] double times_as_long(int agent) const;
    /// What the agent does to its messages; null: it is honest.
    [[nodiscard]] const Lie* lie_of(int agent) const;
    /// Agents that lie, ascending.
    [[nodiscard]] std::vector<int> liars() const;
};

/// Inverse of name_of. @param text silent:P, slow:AGENT:FACTOR and
/// lie:KIND:AGENT[+AGENT...][:STRENGTH], separated by commas; empty: none.
/// @throws ConfigError for other text, P outside [0, 1), an agent below 0 or one that lies twice, a
/// factor below 1, or a strength that is not above 0.
[[nodiscard]] RoundFaults parse_round_faults(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const RoundFaults& faults);

}  // namespace sotto
