#include "interrupted_run.hpp"

namespace sotto::test {

void expect_within_budget(const nlohmann::json& ledger) {
    EXPECT_EQ(ledger.at("status"), "completed");
    EXPECT_LE(ledger.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
    EXPECT_GT(ledger.at("headline").at("epsilon").get<double>(), 9.9);
    EXPECT_GT(ledger.at("rounds").at("accounted"), 0);
}

}  // namespace sotto::test
