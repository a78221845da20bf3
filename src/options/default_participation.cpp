#include "options/default_participation.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "config/config.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

constexpr std::array<std::string_view, 2> adjacencies{"record-add-remove", "record-zero-out"};

/// The text of an option, as it is without one.
std::string_view text_or(const OptionTexts& given,
                         const std::string& option,
                         std::string_view otherwise) {
    const auto found = given.find(option);
    return found == given.end() ? otherwise : std::string_view(found->second);
}

}  // namespace

OptionTexts with_default_participation(OptionTexts given) {
    if (given.contains("client-probability")) given.try_emplace("participation", "poisson");
    const Mechanism* const mechanism =
        mechanisms().look_up(text_or(given, "mechanism", PlanConfig{}.mechanism));
    if (std::ranges::find(adjacencies, text_or(given, "adjacency", "")) != adjacencies.end() &&
        text_or(given, "batch-size", "") != "all" && mechanism != nullptr &&
        mechanism->independent_rounds() && text_or(given, "calibration", "exact") == "exact")
        given.try_emplace("participation", "poisson");
    return given;
}

OptionTexts with_participation_without_data(OptionTexts given) {
    const bool known =
        given.contains("sampling-probability") || given.contains("client-probability");
    return known ? with_default_participation(std::move(given)) : given;
}

}  // namespace sotto
