#include "core/json.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Json = JsonValue::Json;

/// A short description of any value.
std::string described(const Json& value) {
    constexpr std::size_t longest = 40;
    if (value.is_array()) return fmt::format("an array of {}", value.size());
    if (value.is_object()) return "an object";
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

/// "phases[0].rounds", or nothing if the value is not below this one. Values are identified by
/// address, so that paths are computed for messages only.
std::optional<std::string> path_to(const Json& from, const Json& value, const std::string& path) {
    if (&from == &value) return path;
    if (from.is_array())
        for (std::size_t i = 0; i < from.size(); ++i)
            if (auto found = path_to(from[i], value, fmt::format("{}[{}]", path, i))) return found;
    if (from.is_object())
        for (const auto& [key, item] : from.items())
            if (auto found = path_to(item, value, path.empty() ? key : path + "." + key))
                return found;
    return std::nullopt;
}

std::string place_of(const Json& root, const Json& value) {
    const std::string path = path_to(root, value, "").value_or("");
    return path.empty() ? "the whole document" : path;
}

}  // namespace

void JsonValue::fail(std::string_view allowed) const {
    throw DataError(fmt::format(
        "{} is {} (must be {})", place_of(*root_, *value_), described(*value_), allowed));
}

JsonValue JsonValue::at(std::string_view key) const {
    if (!value_->is_object()) fail(fmt::format("an object with \"{}\"", key));
    const auto found = value_->find(key);
    if (found == value_->end()) {
        const std::string place = path_to(*root_, *value_, "").value_or("");
        throw DataError(fmt::format("{}{}{} is missing", place, place.empty() ? "" : ".", key));
    }
    return of(*found);
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
    if (!value_->is_object()) fail("an object");
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return of(*found);
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
    if (!value_->is_object()) fail("an object");
    std::vector<std::pair<std::string, JsonValue>> result;
    for (const auto& [key, item] : value_->items()) result.emplace_back(key, of(item));
    return result;
}

std::vector<JsonValue> JsonValue::items() const {
    if (!value_->is_array()) fail("an array");
    std::vector<JsonValue> result;
    result.reserve(value_->size());
    for (const Json& item : *value_) result.push_back(of(item));
    return result;
}

double JsonValue::number() const {
    if (!value_->is_number()) fail("a number");
    return value_->get<double>();
}

bool JsonValue::boolean() const {
    if (!value_->is_boolean()) fail("true or false");
    return value_->get<bool>();
}

std::string JsonValue::text() const {
    if (!value_->is_string()) fail("a text");
    return value_->get<std::string>();
}

std::vector<int> JsonValue::integers() const {
    if (!value_->is_array()) fail("an array of whole numbers");
    std::vector<int> result;
    result.reserve(value_->size());
    for (const Json& item : *value_) result.push_back(of(item).integer<int>());
    return result;
}

std::vector<double> JsonValue::numbers() const {
    if (!value_->is_array()) fail("an array of numbers");
    std::vector<double> result;
    result.reserve(value_->size());
    for (const Json& item : *value_) result.push_back(of(item).number());
    return result;
}

void require_shallow_json(std::string_view text) {
    int depth = 0;
    for (std::size_t at = text.find_first_of("[{\"]}"); at != std::string_view::npos;
         at = text.find_first_of("[{\"]}", at + 1)) {
        const char here = text[at];
        if (here == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at)
                if (text[at] == '\\') ++at;
        } else if (here == ']' || here == '}') {
            --depth;
        } else if (++depth > deepest_json) {
            throw DataError(
                fmt::format("arrays and objects are nested more than {} deep", deepest_json));
        }
    }
}

JsonDocument::JsonDocument(std::string_view text) try : json_(json_from_text<Json>(text)) {
} catch (const Json::parse_error& error) {
    throw DataError(fmt::format("it is no JSON from byte {} on", error.byte));
} catch (const Json::exception&) {
    throw DataError("it holds a number that is too large");
}

void JsonDocument::require_format(std::string_view format, int version) const {
    if (root().at("format").text() != format)
        root().at("format").fail(fmt::format("\"{}\"", format));
    if (root().at("version").integer<int>() != version)
        root().at("version").fail(fmt::format("{}", version));
}

}  // namespace sotto
