#include "text_tokens.hpp"

#include <algorithm>

namespace sotto {
namespace {

constexpr std::string_view separators = " \t,\r\f\v";
constexpr std::size_t longest_quote = 40;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string_view take_token(std::string_view& rest) {
    const std::size_t begin = rest.find_first_not_of(separators);
    if (begin == std::string_view::npos || rest[begin] == '#' || rest[begin] == '%') {
        rest = {};
        return {};
    }
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest.remove_prefix(end);
    return token;
}

std::string for_message(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, longest_quote))
        result.push_back(is_control(c) || static_cast<unsigned char>(c) >= 0x80 ? '?' : c);
    if (text.size() > longest_quote) result += "...";
    return result;
}

bool looks_binary(std::string_view line) {
    return std::any_of(line.begin(), line.end(), [](char c) {
        return is_control(c) && separators.find(c) == std::string_view::npos;
    });
}

}  // namespace sotto
