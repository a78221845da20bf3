#include "sotto/design/mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

const Mechanism& find_mechanism(std::string_view option, std::string_view name) {
    return mechanisms().find(option, name);
}

std::vector<std::string> mechanisms_with(const std::function<bool(const Mechanism&)>& property) {
    std::vector<std::string> names;
    for (const Mechanism& mechanism : mechanisms().records())
        if (property(mechanism)) names.push_back(mechanism.name);
    return names;
}

std::vector<std::string> recommended_mechanisms(
    const std::function<bool(const Mechanism&)>& property) {
    std::vector<std::string> names = mechanisms_with(property);
    std::ranges::reverse(names);
    return names;
}

void require_spatial_part(const Mechanism& mechanism) {
    if (mechanism.spatial_part) return;
    const bool trusted = mechanism.aggregation == Aggregation::trusted_mean;
    throw ConfigError(fmt::format("spatial-mechanism: {} is not possible{} (allowed: {})",
                                  mechanism.name,
                                  trusted ? ", whose aggregator is trusted" : "",
                                  join(mechanisms_with(&Mechanism::spatial_part), ", ")));
}

}  // namespace sotto
