#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"

namespace sotto {

/// Everything but the seed, and the values chosen.
struct SweepCell {
    std::string variant;
    OptionValues fixed;   ///< all options with one value here
    OptionValues varied;  ///< those of `fixed` that tell cells apart
    /// Values to choose between, those given first; one, maybe empty, if there is no choice.
    std::vector<OptionValues> candidates;
    std::vector<SweepSetting> scales;  ///< of the options chosen (sweep_scale)
};

struct SweepTraining {
    std::size_t cell = 0, candidate = 0;
    std::string seed;
    bool validation = false;
    bool further = false;  ///< of a candidate that the sweep itself has added to those given
    std::string ini;       ///< its options, as a configuration file
    std::string key;  ///< digest of the options that change results, the program's version and the
                      ///< files that they name: names its own files
};

/// The cells of a sweep, variant by variant; the last setting varies fastest.
/// @throws ConfigError for values that do not belong into a sweep.
[[nodiscard]] std::vector<SweepCell> sweep_cells(const SweepConfig& config);
/// The trainings that judge one candidate, and those that measure it. `seed` as the value of
/// graph-seed or noise-seed stands for the training's seed; validation takes validation_fraction
/// of the training data to test on instead of the test data.
[[nodiscard]] std::vector<SweepTraining> validation_trainings(const SweepConfig& config,
                                                              const std::vector<SweepCell>& cells,
                                                              std::size_t cell,
                                                              std::size_t candidate);
[[nodiscard]] std::vector<SweepTraining> test_trainings(const SweepConfig& config,
                                                        const std::vector<SweepCell>& cells,
                                                        std::size_t cell,
                                                        std::size_t candidate);

/// The value of an option; null where it is not among them.
[[nodiscard]] const std::string* value_of(const OptionValues& values, const std::string& option);
/// What a line of a picture or a row of a table is about: "pairs", "pairs, rounds 100".
/// @param without an option that is left out; empty: none.
[[nodiscard]] std::string cell_name(const SweepCell& cell, const std::string& without);

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
