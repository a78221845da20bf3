#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/option_set.hpp"
#include "sotto/core/names.hpp"

namespace sotto {
/// An option of `sotto train` and its value, as a user writes them.
using OptionValue = std::pair<std::string, std::string>;
using OptionValues = std::vector<OptionValue>;

/// An option of `sotto train` and the values it takes in turn.
struct SweepSetting {
    std::string option;
    std::vector<std::string> values;  ///< at least one
};

/// The settings of one section of a sweep file; options with several values span a grid.
struct SweepVariant {
    std::string name;
    std::vector<SweepSetting> settings;  ///< each option once
};

/// The records that give the scores of a private choice.
enum class ChoiceData {
    held_out,  ///< a part of the training data; the score gets noise
    test_data  ///< those of `test-data`, which are then public: nobody's record is protected
};
inline constexpr NameTable<ChoiceData, 2> choice_data_names{
    {{{ChoiceData::held_out, "held-out"}, {ChoiceData::test_data, "public-test-data"}}}};

/// The content of a sweep file (docs/sweeps.md).
struct SweepConfig {
    std::vector<SweepVariant> variants;
    std::vector<std::string> seeds{"1"};
    /// Options whose value is chosen in each cell: the one with the best mean of `choose_by` over
    /// the validation seeds, on held-out training data.
    std::vector<std::string> choose{"step-size"};
    std::string choose_by = "test_loss";
    /// How many values to try beyond the given ones on each side, while the best is the outermost
    /// (sweep_scale). At least 0.
    long choose_further = 6;
    std::vector<std::string> validation_seeds{"101"};
    double validation_fraction = 0.2;
    bool keep_runs = true;            ///< keep the run directories
    std::optional<std::string> plot;  ///< option on the x axis of a picture
    /// Expected number of trainings of a private choice among all combinations of values; none: a
    /// sweep whose results are all shown.
    std::optional<double> private_choice;
    double choice_shape = 1;                        ///< TrainingCount::shape
    ChoiceData choice_data = ChoiceData::held_out;  ///< that gives the scores of such a choice
    std::filesystem::path directory;
    int threads = 1;  ///< of one training
    /// Digests of the files that options name (file_digests), set by run_sweep. Trainings that use
    /// a changed file are new trainings.
    std::map<std::string, std::string> files;
};
}  // namespace sotto

namespace sotto::cli {
/// The options of `sotto sweep` itself, without those of its trainings.
struct SweepOptions {
    SweepConfig sweep;
    std::string file;  ///< empty: not given
    std::optional<std::string> output;
};

/// FILE, --output and the other options of the sweep itself.
[[nodiscard]] OptionGroup<SweepOptions>& sweep_options();
[[nodiscard]] OptionSet<SweepOptions> sweep_option_set();

/// Reads a sweep file (docs/sweeps.md): lines `name = value value ...` with options of `sotto
/// train` and of sweep_options(). Each [section] is a variant; its lines override those before the
/// first section. Values with blanks are in double quotes. The command line overrides the file.
/// `threads` is returned as given: 0 for all cores.
/// @param text of the file.  @param source its name in messages.
/// @throws ConfigError naming file, key and what is allowed.
[[nodiscard]] SweepConfig read_sweep(const OptionTexts& given,
                                     const std::string& text,
                                     const std::string& source);
}  // namespace sotto::cli

namespace sotto {
/// Hexadecimal digests, by file name, of the files that values of options name: data, graphs,
/// weights, plans. A value may name several, separated by commas. Cost: reads each file once.
[[nodiscard]] std::map<std::string, std::string> file_digests(const SweepConfig& config);
}  // namespace sotto
