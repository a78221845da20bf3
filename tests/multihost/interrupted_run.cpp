#include "interrupted_run.hpp"

#include <algorithm>
#include <system_error>

namespace sotto::test {

namespace fs = std::filesystem;

bool has_checkpoint_on_the_way(const fs::path& run) {
    std::error_code ignored;
    const fs::directory_iterator folders(run / "checkpoints", ignored);
    return std::ranges::any_of(folders, [](const fs::directory_entry& folder) {
        return fs::exists(folder.path() / "manifest.json") &&
               std::stol(folder.path().filename()) > 0;
    });
}

void expect_within_budget(const nlohmann::json& ledger) {
    EXPECT_EQ(ledger.at("status"), "completed");
    EXPECT_LE(ledger.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
    EXPECT_GT(ledger.at("headline").at("epsilon").get<double>(), 9.9);
    EXPECT_GT(ledger.at("rounds").at("accounted"), 0);
}

}  // namespace sotto::test
