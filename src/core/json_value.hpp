#pragma once

// JSON of files and peers, of which nothing is believed; not installed.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

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
