#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"

namespace sotto {

/// One combination of options; the seed and the chosen values vary inside it.
struct SweepCell {
    std::string variant;
    OptionValues fixed;   ///< all options with one value in this cell
    OptionValues varied;  ///< those of `fixed` that differ between cells
    /// Values to choose between, the given ones first; one (maybe empty) if there is no choice.
    std::vector<OptionValues> candidates;
    std::vector<SweepSetting> scales;  ///< of the options to choose (sweep_scale)
};

struct SweepTraining {
    std::size_t cell = 0, candidate = 0;
    std::string seed;
    bool validation = false;
    bool further = false;  ///< the sweep added its candidate to the given ones
    std::string ini;       ///< its options, as a configuration file
    std::string key;  ///< names its files: digest of the options that change results, the files
                      ///< that they name and the program's version
};

/// The cells of a sweep, variant by variant; the last setting varies fastest.
/// @throws ConfigError for values that a sweep cannot have.
[[nodiscard]] std::vector<SweepCell> sweep_cells(const SweepConfig& config);
/// The trainings that validate one candidate, and those that measure it. The value `seed` of
/// graph-seed or noise-seed means the training's seed. Validation tests on validation_fraction of
/// the training data instead of the test data.
[[nodiscard]] std::vector<SweepTraining> validation_trainings(const SweepConfig& config,
                                                              const std::vector<SweepCell>& cells,
                                                              std::size_t cell,
                                                              std::size_t candidate);
[[nodiscard]] std::vector<SweepTraining> test_trainings(const SweepConfig& config,
                                                        const std::vector<SweepCell>& cells,
                                                        std::size_t cell,
                                                        std::size_t candidate);

/// The options of every combination of values, cell by cell.
[[nodiscard]] std::vector<OptionValues> configurations_of(const std::vector<SweepCell>& cells);
/// One cell with a candidate for each of the drawn configurations, which may repeat.
[[nodiscard]] SweepCell drawn_cell(const std::vector<SweepCell>& cells,
                                   const std::vector<std::size_t>& drawn);
/// A training for every candidate of the only cell, with the sweep's only seed. Equal candidates
/// have trainings of their own. They test on held-out records, or on the test data.
[[nodiscard]] std::vector<SweepTraining> drawn_trainings(const SweepConfig& config,
                                                         const std::vector<SweepCell>& cells);

/// The value of an option; null if it has none.
[[nodiscard]] const std::string* value_of(const OptionValues& values, const std::string& option);
/// The label of a line in a picture or a row in a table: "pairs", "pairs, rounds 100".
/// @param without an option to leave out; empty: none.
[[nodiscard]] std::string cell_name(const SweepCell& cell, const std::string& without);

/// All numbers that may be tried of an option to choose, ascending, as users write them: the given
/// ones and up to `further` more on each side. LOCAL.
/// The k-th further number is the outermost given number times the k-th power of its ratio to its
/// neighbour, in four digits. For an option of whole numbers it is rounded, and differs from the
/// last by at least one. A number beyond the option's range is replaced by the end of the range if
/// that is allowed, and ends that side. A side whose two outermost numbers are not both positive
/// has no further numbers. Words ("auto") are left out. With fewer than two numbers: no values.
/// @param setting an option of `sotto train` with the given values.  @param further >= 0.
[[nodiscard]] SweepSetting sweep_scale(const SweepSetting& setting, long further);

/// The neighbours of a candidate, one per scale and side: one of its values is replaced by the next
/// on the scale. Nothing where the scale ends or the candidate's value is not a number.
[[nodiscard]] std::vector<std::optional<OptionValues>> neighbours_of(const SweepCell& cell,
                                                                     std::size_t candidate);
/// The index of the candidate with these values; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> candidate_with(const SweepCell& cell,
                                                        const OptionValues& values);
/// Whether a scale has values that no candidate has.
[[nodiscard]] bool has_untried_values(const SweepCell& cell);

}  // namespace sotto
