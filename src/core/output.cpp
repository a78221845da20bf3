#include "core/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "core/files.hpp"

namespace sotto {

namespace {

/// errno of the last failed write; ENOSPC by default.
std::atomic<int> reason_of_loss{ENOSPC};

}  // namespace

void write_text(std::FILE* out, std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), out) < text.size()) reason_of_loss = errno;
}

void require_written(std::FILE* out, const std::string& name) {
    const bool flushed = std::fflush(out) == 0;
    const int reason = flushed ? reason_of_loss.load() : errno;
    if (flushed && std::ferror(out) == 0) return;
    throw_write_failure(fmt::format("{}: cannot be written ({}); make room, or write to a file "
                                    "elsewhere",
                                    name,
                                    std::strerror(reason)),
                        reason);
}

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        line += shell_quoted(word);
    }
    return line;
}

namespace {

/// Length of the first character and its code point; 0 bytes if it is not UTF-8.
struct Character {
    std::size_t bytes = 0;
    std::uint32_t number = 0;
};

Character first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {1, lead};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    constexpr std::uint32_t smallest[] = {0x80, 0x800, 0x10000};
    if (lead < 0xc0 || lead > 0xf4 || text.size() < bytes) return {};
    std::uint32_t number = lead & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80) return {};
        number = number << 6 | (next & 0x3fU);
    }
    const bool surrogate = number >= 0xd800 && number <= 0xdfff;
    if (number < smallest[bytes - 2] || number > 0x10ffff || surrogate) return {};
    return {bytes, number};
}

/// False for characters that move a terminal's cursor, colour it, change the text's direction, or
/// are invisible.
bool is_printable(std::uint32_t number) {
    const auto between = [number](std::uint32_t first, std::uint32_t last) {
        return number >= first && number <= last;
    };
    return !(number < 0x20 || between(0x7f, 0x9f) || number == 0xad || between(0x200b, 0x200f) ||
             between(0x2028, 0x202e) || between(0x2060, 0x206f) || number == 0xfeff ||
             between(0xfff9, 0xfffb));
}

/// Escaped as in C: "\n", "\x1b", "\u{feff}"; "\xff" for a byte that is not UTF-8.
std::string escaped(const Character& character, char first) {
    if (character.bytes == 1 && first == '\n') return "\\n";
    if (character.bytes == 1 && first == '\r') return "\\r";
    if (character.bytes == 1 && first == '\t') return "\\t";
    if (character.bytes > 1) return fmt::format("\\u{{{:04x}}}", character.number);
    return fmt::format("\\x{:02x}", static_cast<unsigned char>(first));
}

}  // namespace

void print_error_line(std::string_view message) {
    std::string line = "sotto: ";
    while (!message.empty()) {
        const Character next = first_character(message);
        if (next.bytes > 0 && is_printable(next.number))
            line += message.substr(0, next.bytes);
        else
            line += escaped(next, message.front());
        message.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    line += '\n';
    // One call, so that lines of several processes do not mix.
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

}  // namespace sotto
