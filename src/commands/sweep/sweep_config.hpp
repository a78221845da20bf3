#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
    /// best is the outermost (sweep_scale.hpp). At least 0.
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
