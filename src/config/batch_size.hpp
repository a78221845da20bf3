#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>

namespace sotto {

/// How many of its records an agent uses in a round.
struct BatchSize {
    std::optional<long> number = 128;  ///< the same of every agent; none: a share
    double share = 1;                  ///< of the agent's records; 1: all of them

    BatchSize() = default;
    BatchSize(long records) : number(records) {}         // NOLINT(google-explicit-constructor)
    BatchSize(std::nullopt_t) : number(std::nullopt) {}  // NOLINT(google-explicit-constructor)
    /// At least one. Nothing where it is a share of records whose number is not known (0).
    [[nodiscard]] std::optional<Eigen::Index> of(Eigen::Index records) const;
    bool operator==(const BatchSize&) const = default;
};
/// A whole number from 1, a share above 0 and below 1, or "all".
/// @throws ConfigError naming the option, the text and what is allowed.
[[nodiscard]] BatchSize parse_batch_size(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const BatchSize& size);

}  // namespace sotto
