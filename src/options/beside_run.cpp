#include "options/beside_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"

namespace sotto {

void require_beside_run(const std::vector<WrittenGroup>& groups,
                        const OptionTexts& given,
                        std::string_view reason,
                        const std::vector<std::string>& also) {
    std::vector<std::string> allowed, refused;
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options) {
            if (option.beside_run || std::ranges::find(also, option.name) != also.end())
                allowed.push_back(option.name);
            else if (given.contains(option.name))
                refused.push_back(option.name);
        }
    if (!refused.empty())
        throw ConfigError(fmt::format(
            "--{}: {} (allowed: {})", refused.front(), reason, fmt::join(allowed, ", ")));
}

}  // namespace sotto
