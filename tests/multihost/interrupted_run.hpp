#pragma once

#include "../cli/program.hpp"

namespace sotto::test {

/// That a run with the default budget has ended and spent it, and no more, whatever it repeated.
void expect_within_budget(const nlohmann::json& ledger);

}  // namespace sotto::test
