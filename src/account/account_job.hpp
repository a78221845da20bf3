#pragma once

#include "account/account_config.hpp"
#include "account/account_result.hpp"
#include "account/account_subject.hpp"
#include "sotto/net/network.hpp"
#include "sotto/privacy/guarantee.hpp"

namespace sotto {

/// Runs the accountant: the observers are spread over the processes, and over the threads of each;
/// worst coalitions as find_worst_coalitions. COLLECTIVE; every process has the result.
/// @throws ConfigError as parse_view, and for targets that observe, or none that is left.
[[nodiscard]] AccountResult run_account(const AccountConfig& config,
                                        const AccountSubject& subject,
                                        Network& network);

}  // namespace sotto
