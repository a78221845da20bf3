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

/// Largest nesting depth of arrays and objects that is accepted; none of our files reaches it.
inline constexpr int deepest_json = 32;

/// @throws DataError for text whose arrays and objects are nested more than deepest_json deep.
/// Cost: one pass over the text.
void require_shallow_json(std::string_view text);

/// Parses JSON from a peer or a file. The library recurses on nesting, so deep nesting is refused
/// before it overflows the stack.
/// @throws as require_shallow_json, and the library's exception for invalid JSON.
template <class Json>
[[nodiscard]] Json json_from_text(std::string_view text) {
    require_shallow_json(text);
    return Json::parse(text);
}

/// A whole number that fits into Integer. nlohmann's own conversion truncates silently, which could
/// turn an invalid number into another agent or stream, and is undefined for fractions out of
/// range.
/// @throws DataError with a short description of the value.
template <class Integer, class Json>
[[nodiscard]] Integer integer_from_json(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.template get<std::uint64_t>();
        if (std::in_range<Integer>(value)) return static_cast<Integer>(value);
    } else if (json.is_number_integer()) {
        const auto value = json.template get<std::int64_t>();
        if (std::in_range<Integer>(value)) return static_cast<Integer>(value);
    }
    // Arrays and objects may be too deeply nested to print.
    throw DataError(
        (json.is_number() || json.is_boolean() ? json.dump() : std::string(json.type_name())) +
        " where a whole number from " + std::to_string(std::numeric_limits<Integer>::min()) +
        " to " + std::to_string(std::numeric_limits<Integer>::max()) + " must stand");
}

/// The value, or null if it is not finite, which JSON cannot express.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

/// Null also without a value.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? number_or_null(*value) : nlohmann::ordered_json();
}

/// Text of files and reports: indented by two blanks, with a final newline. Bytes that are not
/// UTF-8, as in file names, become replacement characters.
[[nodiscard]] inline std::string to_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// JSON of untrusted files and peers.

class JsonDocument;

/// One value of a document. Reads are checked, and a DataError gives its path, its value and what
/// is allowed: "phases[0].rounds is \"ten\" (must be a whole number from 0 to 9)". The document
/// must outlive it.
class JsonValue {
  public:
    using Json = nlohmann::ordered_json;

    /// @throws DataError unless this is an object that has the key.
    [[nodiscard]] JsonValue at(std::string_view key) const;
    /// Nothing if the key is missing or its value null.
    /// @throws DataError unless this is an object.
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

    /// For checks of the reader's own.
    /// @param allowed what is allowed here.
    [[noreturn]] void fail(std::string_view allowed) const;

  private:
    friend class JsonDocument;
    JsonValue(const Json& root, const Json& value) : root_(&root), value_(&value) {}
    [[nodiscard]] JsonValue of(const Json& value) const { return {*root_, value}; }

    const Json* root_;
    const Json* value_;
};

/// A parsed text.
class JsonDocument {
  public:
    /// @throws DataError giving the place of invalid JSON, or for too deep nesting
    /// (json_from_text), or a number out of the range of doubles.
    explicit JsonDocument(std::string_view text);
    [[nodiscard]] JsonValue root() const { return {json_, json_}; }
    [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }
    /// @throws DataError unless its "format" and "version" are these.
    void require_format(std::string_view format, int version) const;

  private:
    nlohmann::ordered_json json_;
};

}  // namespace sotto
