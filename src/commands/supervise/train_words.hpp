#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto::cli {

/// Options of `sotto train`, as far as a supervisor has to know them.
struct TrainWords {
    std::vector<std::string> options;  ///< all but --without
    std::vector<std::string> beside;   ///< those that config.ini does not keep: --json, --quiet, --verbose
    std::vector<int> without;          ///< agents that leave
    std::optional<std::string> directory, resume;
    bool has_interval = false;  ///< of checkpoints
    bool dry_run = false;
};

/// @param words after `train`; a file that --config names is read.
/// @throws ConfigError, DataError as `sotto train` itself for options that do not exist.
[[nodiscard]] TrainWords read_train_words(const std::vector<std::string>& words);

/// " --without 3,7", in words; none where nobody leaves.
[[nodiscard]] std::vector<std::string> without_words(const std::vector<int>& agents);

}  // namespace sotto::cli
