#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/written_options.hpp"

namespace sotto {

/// Refuses options beside the directory of a run that has them already (OptionFacts::beside_run).
/// @param reason of the message, behind the option's name.  @param also allowed.
/// @throws ConfigError naming the first that is refused, and those that are allowed.
void require_beside_run(const std::vector<WrittenGroup>& groups,
                        const OptionTexts& given,
                        std::string_view reason,
                        const std::vector<std::string>& also = {});

}  // namespace sotto
