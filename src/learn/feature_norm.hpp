#pragma once

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// sqrt(|a|^2 + 1) of the longest record a, with the constant feature of a bias, rounded up by more
/// than its rounding errors; 1 for no records, not finite if a feature is not. Cost: the features.
[[nodiscard]] double longest_record(const Dataset& data);

/// The records with their features times a factor each, at most 1, so that
///
///     sqrt(|a|^2 + 1) <= norm
///
/// to the last bit, also for features whose squares overflow. A record that is short enough stays
/// as it is, and each depends on itself alone. Records with a feature that is not finite stay, for
/// the reader to refuse. Features become sparse; labels stay.
/// @throws ConfigError unless norm is finite and above 1.
[[nodiscard]] Dataset with_feature_norm(Dataset data, double norm);

}  // namespace sotto
