#pragma once

#include <filesystem>

#include "../cli/program.hpp"

namespace sotto::test {

/// Whether the run has a whole checkpoint of a round after the first.
[[nodiscard]] bool has_checkpoint_on_the_way(const std::filesystem::path& run);

/// That a run with the default budget has ended and spent it, and no more, whatever it repeated.
void expect_within_budget(const nlohmann::json& ledger);

}  // namespace sotto::test
