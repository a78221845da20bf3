#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

/// Deepest nesting of arrays and objects that is read: more than any of our files has.
inline constexpr int deepest_json = 32;

/// Parses JSON from a peer or a file. The library builds nested values by recursion, so that a few
/// hundred kilobytes of brackets would overflow the stack: nesting is refused as it is read.
/// @throws DataError if arrays and objects are nested more than deepest_json deep; what the library
/// throws if the text is no JSON.
template <class Json>
[[nodiscard]] Json json_from_text(std::string_view text) {
    return Json::parse(text, [](int depth, typename Json::parse_event_t, const Json&) {
        if (depth > deepest_json)
            throw DataError("arrays and objects are nested more than " +
                            std::to_string(deepest_json) + " deep");
        return true;
    });
}

/// A whole number that fits. nlohmann's own conversion cuts off what does not, and would turn a
/// number that names nobody into one that names another agent or stream; a fraction beyond the
/// range is undefined there.
/// @throws DataError with what stands there instead, in a few words whatever it is.
template <class Integer, class Json>
[[nodiscard]] Integer integer_from_json(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.template get<std::uint64_t>();
        if (std::in_range<Integer>(value)) return static_cast<Integer>(value);
    } else if (json.is_number_integer()) {
        const auto value = json.template get<std::int64_t>();
        if (std::in_range<Integer>(value)) return static_cast<Integer>(value);
    }
    // Arrays and objects may be nested too deeply to be written out.
    throw DataError(
        (json.is_number() || json.is_boolean() ? json.dump() : std::string(json.type_name())) +
        " where a whole number from " + std::to_string(std::numeric_limits<Integer>::min()) +
        " to " + std::to_string(std::numeric_limits<Integer>::max()) + " must stand");
}

}  // namespace sotto
