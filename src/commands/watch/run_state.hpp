#pragma once

#include <filesystem>

namespace sotto {

/// How far a run is, as its directory says.
enum class RunState {
    not_begun,  ///< nothing has left yet; its directory need not be there
    going_on,   ///< or killed without a word
    stopped,    ///< interrupted or failed; it may be taken up
    completed   ///< its summary is written; audits, too
};

/// Only reads, while a training may be writing. @throws nothing for files that are replaced or
/// damaged: then the run goes on.
[[nodiscard]] RunState run_state(const std::filesystem::path& directory);

}  // namespace sotto
