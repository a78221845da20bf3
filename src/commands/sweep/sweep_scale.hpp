#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "commands/sweep/sweep_grid.hpp"

namespace sotto {

/// All numbers that may be tried of an option that is chosen, ascending, as users write them: those
/// given, and up to `further` more on either side. The k-th of these is the outermost number given
/// times the k-th power of its ratio to the one beside it, in four digits; of an option of whole
/// numbers it is rounded, and at least one further than the last. The first that would lie beyond
/// the option's range is the range's end, where that belongs to it, and then there is no more; nor
/// is there on a side whose two outermost numbers are not both above 0. Words ("auto") are left
/// out. No values where there are fewer than two numbers. LOCAL.
/// @param setting an option of `sotto train`, values given.  @param further >= 0.
[[nodiscard]] SweepSetting sweep_scale(const SweepSetting& setting, long further);

/// Values of a candidate, one of which is that beside it on its scale; one per scale and side.
/// Nothing for a side on which its scale ends, or where its value is no number.
[[nodiscard]] std::vector<std::optional<OptionValues>> neighbours_of(const SweepCell& cell,
                                                                     std::size_t candidate);
/// The candidate with these values; nothing if the cell has none.
[[nodiscard]] std::optional<std::size_t> candidate_with(const SweepCell& cell,
                                                        const OptionValues& values);
/// Whether a scale has values that no candidate has.
[[nodiscard]] bool has_untried_values(const SweepCell& cell);

}  // namespace sotto
