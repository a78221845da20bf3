#pragma once

#include <string>

#include "config/config.hpp"
#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// What is learnt, from which data, and its regularisation.
[[nodiscard]] OptionGroup<TrainConfig>& task_options();

/// With the defaults of its task (--task, or the default one) where nothing is given.
[[nodiscard]] OptionTexts with_task_defaults(OptionTexts given);

/// With as many agents as files where --data is a pattern, and nothing else says their number.
/// @throws DataError where no file matches.
[[nodiscard]] OptionTexts with_agents_of_files(OptionTexts given);

/// "averaging has other defaults: step-size 1, ...", for help.
[[nodiscard]] std::string task_defaults_text();

}  // namespace sotto
