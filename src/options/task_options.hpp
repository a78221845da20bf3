#pragma once

#include <string>

#include "config/config.hpp"
#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Options for the task, its data and its regularisation.
[[nodiscard]] OptionGroup<TrainConfig>& task_options();

/// Adds the defaults of the task (--task, or the default one).
[[nodiscard]] OptionTexts with_task_defaults(OptionTexts given);

/// Adds --agents with the number of matching files if --data is a pattern and no option sets it.
/// @throws DataError if no file matches.
[[nodiscard]] OptionTexts with_agents_of_files(OptionTexts given);

/// "averaging has other defaults: step-size 1, ...", for the manual.
[[nodiscard]] std::string task_defaults_text();

}  // namespace sotto
