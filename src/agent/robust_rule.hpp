#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sotto {

/// How agents mix messages of neighbours that may lie (--robust). What receivers do with messages
/// costs no privacy.
struct RobustRule {
    enum class Kind {
        off,
        clip,    ///< differences from the own message are shortened (RobustMixing)
        trimmed  ///< the largest and smallest values of every coordinate are left out
    };
    Kind kind = Kind::off;
    std::optional<double> limit;  ///< tau of clip; none: what follows from the plan
    int trimmed = 0;              ///< F, on each side

    [[nodiscard]] bool on() const { return kind != Kind::off; }
    /// Whether limits follow from the plan (HonestSpread).
    [[nodiscard]] bool limits_from_plan() const { return kind == Kind::clip && !limit; }
    /// Whether a receiver needs whole messages.
    [[nodiscard]] bool keeps_messages() const { return kind == Kind::clip; }
    [[nodiscard]] bool operator==(const RobustRule&) const = default;
};

/// Inverse of name_of. @param text off, clip, clip:auto, clip:TAU or trimmed:F.
/// @throws ConfigError for other text, a TAU that is not above 0, or an F below 1.
[[nodiscard]] RobustRule parse_robust_rule(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const RobustRule& rule);

}  // namespace sotto
