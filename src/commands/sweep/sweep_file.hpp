#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/option_set.hpp"

namespace sotto {
/// An option of `sotto train` with its value, as a user writes them.
using OptionValue = std::pair<std::string, std::string>;
using OptionValues = std::vector<OptionValue>;

/// An option of `sotto train` and the values to try.
struct SweepSetting {
    std::string option;
    std::vector<std::string> values;  ///< at least one
};

/// Settings that belong together, as a section of a sweep file gives them; a grid over all of them
/// that have several values.
struct SweepVariant {
    std::string name;
    std::vector<SweepSetting> settings;  ///< every option once
};

/// What a sweep file says (docs/sweeps.md).
struct SweepConfig {
    std::vector<SweepVariant> variants;
    std::vector<std::string> seeds{"1"};
    /// Options whose value is chosen for every cell where they have several: the best mean of
    /// `choose_by` over the validation seeds, on a part of the training data held out.
    std::vector<std::string> choose{"step-size"};
    std::string choose_by = "test_loss";
    /// So many values beyond those given are tried on a side of an option that is chosen, while the
    /// best is the outermost (sweep_grid.hpp). At least 0.
    long choose_further = 6;
    std::vector<std::string> validation_seeds{"101"};
    double validation_fraction = 0.2;
    bool keep_runs = true;            ///< run directories, beside their figures
    std::optional<std::string> plot;  ///< option on the x axis of a picture
    std::filesystem::path directory;
    int threads = 1;  ///< of one training
    /// What is in the files that options name (file_digests). run_sweep sets it, and whatever
    /// trainings depend on a file that has changed are new trainings.
    std::map<std::string, std::string> files;
};
}  // namespace sotto

namespace sotto::cli {
/// What `sotto sweep` understands beside the options of its trainings.
struct SweepOptions {
    SweepConfig sweep;
    std::string file;  ///< empty: not given
    std::optional<std::string> output;
};

/// FILE, --output and what else is of the sweep itself, not of its trainings.
[[nodiscard]] OptionGroup<SweepOptions>& sweep_options();
[[nodiscard]] OptionSet<SweepOptions> sweep_option_set();

/// A sweep file (docs/sweeps.md): `name = value value ...` lines with options of `sotto train` and
/// of sweep_options(); every [section] is a variant, whose lines win over those before the first
/// section. Values that hold blanks stand in double quotes. Options given on the command line win
/// over the file. `threads` is as it is asked for: 0 for all cores.
/// @param text of the file.  @param source what to call it in messages.
/// @throws ConfigError naming file, key and what is allowed.
[[nodiscard]] SweepConfig read_sweep(const OptionTexts& given,
                                     const std::string& text,
                                     const std::string& source);
}  // namespace sotto::cli

namespace sotto {
/// Digests, as hexadecimal digits, of the files that values of options name, by their names: data,
/// graphs, weights, plans; also several in one value, between commas. Cost: reads each file once.
[[nodiscard]] std::map<std::string, std::string> file_digests(const SweepConfig& config);
}  // namespace sotto
