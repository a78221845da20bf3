#pragma once

#include <optional>
#include <vector>

#include "account/account_config.hpp"
#include "account/account_result.hpp"
#include "account/account_subject.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

/// What is learnt from all messages but those that are missing (--dropouts, --missing), about every
/// target by whichever of the query's observers learns most, with its seeds; nothing where neither
/// is asked for. LOCAL. @throws ConfigError where both are, for noise and departures that
/// dropout_precision does not cover, and as it and worst_dropout_precision.
[[nodiscard]] std::optional<DropoutAccount> account_for_dropouts(const AccountConfig& config,
                                                                 const AccountSubject& subject,
                                                                 const ViewQuery& query,
                                                                 const std::vector<int>& targets);

}  // namespace sotto
