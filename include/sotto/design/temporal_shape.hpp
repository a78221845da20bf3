#pragma once

#include <string>
#include <string_view>

namespace sotto {

/// What an optimised temporal factor C_time may look like.
struct TemporalShape {
    enum class Kind {
        dense,   ///< any lower triangular matrix; an agent keeps all its past noise
        banded,  ///< `band` subdiagonals; an agent keeps so many rounds of past noise
        one_lag  ///< C_time^-1 = I - rho S, S the subdiagonal: noise z_t - rho z_{t-1}
    };
    Kind kind = Kind::dense;
    long band = 0;     ///< B, of Kind::banded; 0: independent rounds
    long restart = 0;  ///< rounds after which the factor begins anew, independently; 0: never

    /// No two rounds share noise.
    [[nodiscard]] bool independent() const { return kind == Kind::banded && band == 0; }
    [[nodiscard]] bool operator==(const TemporalShape&) const = default;
};

/// "dense", "banded:B", "one-lag". @throws ConfigError.
/// @param also another word that the option takes, for the message.
[[nodiscard]] TemporalShape parse_temporal(std::string_view option,
                                           std::string_view text,
                                           std::string_view also = {});
[[nodiscard]] std::string name_of(const TemporalShape& shape);
/// As parse_temporal takes it: without its restart.
[[nodiscard]] std::string temporal_text(TemporalShape shape);

}  // namespace sotto
