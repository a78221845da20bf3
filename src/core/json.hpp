#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The value, or null where it is not finite: JSON has no such numbers.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

/// Null also where there is no value.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? number_or_null(*value) : nlohmann::ordered_json();
}

/// As files and reports show it: two blanks a level, and the end of a line. Names of files need not
/// be UTF-8; what is not becomes a replacement character.
[[nodiscard]] inline std::string to_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// JSON of files and peers, of which nothing is believed.

class JsonDocument;

/// One value of a document. What is read from it is checked, and a DataError says where it stands,
/// what it is and what must stand there: "phases[0].rounds is \"ten\" (must be a whole number from
/// 0 to 9)". The document must live as long.
class JsonValue {
  public:
    using Json = nlohmann::ordered_json;

    /// @throws DataError unless this is an object that has the key.
    [[nodiscard]] JsonValue at(std::string_view key) const;
    /// Nothing where the key is missing, or null. @throws DataError unless this is an object.
    [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
    /// @throws DataError unless this is an object.
    [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;
    /// @throws DataError unless this is an array.
    [[nodiscard]] std::vector<JsonValue> items() const;

    template <class Integer>
    [[nodiscard]] Integer integer(Integer least = std::numeric_limits<Integer>::min(),
                                  Integer most = std::numeric_limits<Integer>::max()) const {
        const Json& json = *value_;
        if (json.is_number_unsigned()) {
            const auto value = json.get<std::uint64_t>();
            if (std::in_range<Integer>(value) && std::cmp_less_equal(value, most) &&
                std::cmp_greater_equal(value, least))
                return static_cast<Integer>(value);
        } else if (json.is_number_integer()) {
            const auto value = json.get<std::int64_t>();
            if (std::in_range<Integer>(value) && std::cmp_less_equal(value, most) &&
                std::cmp_greater_equal(value, least))
                return static_cast<Integer>(value);
        }
        fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    [[nodiscard]] double number() const;
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::vector<int> integers() const;
    [[nodiscard]] std::vector<double> numbers() const;

    /// For what only the reader can know. @param allowed what must stand there.
    [[noreturn]] void fail(std::string_view allowed) const;

  private:
    friend class JsonDocument;
    JsonValue(const Json& root, const Json& value) : root_(&root), value_(&value) {}
    [[nodiscard]] JsonValue of(const Json& value) const { return {*root_, value}; }

    const Json* root_;
    const Json* value_;
};

/// A text that is parsed.
class JsonDocument {
  public:
    /// @throws DataError saying where it is no JSON, or that it is nested too deeply
    /// (json_from_text), or that one of its numbers is too large for any.
    explicit JsonDocument(std::string_view text);
    [[nodiscard]] JsonValue root() const { return {json_, json_}; }
    /// @throws DataError unless its "format" and "version" are these.
    void require_format(std::string_view format, int version) const;

  private:
    nlohmann::ordered_json json_;
};

}  // namespace sotto
