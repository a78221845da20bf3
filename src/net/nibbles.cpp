#include "net/nibbles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

// Byte i of a group holds numbers i and i + half, so that both directions are whole vectors.
constexpr std::size_t group = 64;

/// The parts of a block.
struct NibbleBlock {
    static constexpr std::size_t head = sizeof(std::uint32_t);
    std::size_t room, digits;  // numbers of 32 bits, and where those of 4 begin
    explicit NibbleBlock(std::size_t count)
        : room(nibble_room(count)), digits(head + room * sizeof(std::int32_t)) {}
};

bool is_long(double code) { return !(std::abs(code) <= largest_nibble); }

/// @return whether a number of the group takes 32 bits.
bool pack_group(const double* codes, std::size_t count, std::byte* bytes) {
    std::array<std::uint8_t, group> digits{};
    int any = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto code = static_cast<std::int32_t>(codes[i]);
        const bool small = static_cast<std::uint32_t>(code + largest_nibble) <= 2 * largest_nibble;
        any |= small ? 0 : 1;
        digits[i] = static_cast<std::uint8_t>(small ? code & 15 : 8);
    }
    const std::size_t half = (count + 1) / 2;
    for (std::size_t i = 0; i < half; ++i)
        bytes[i] = static_cast<std::byte>(digits[i] | (digits[i + half] << 4));
    return any != 0;
}

/// @return whether a number of the group took 32 bits; it is -8 here.
bool unpack_group(const std::byte* bytes, std::size_t count, double* codes) {
    std::array<std::int8_t, group> digits{};
    const std::size_t half = (count + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
        const auto both = static_cast<std::uint8_t>(bytes[i]);
        digits[i] = static_cast<std::int8_t>(static_cast<std::int8_t>(both << 4) >> 4);
        digits[i + half] = static_cast<std::int8_t>(static_cast<std::int8_t>(both) >> 4);
    }
    int least = 0;
    for (std::size_t i = 0; i < count; ++i) {
        least = std::min<int>(least, digits[i]);
        codes[i] = digits[i];
    }
    return least < -largest_nibble;
}

std::size_t long_codes_in(std::span<const std::byte> block) {
    std::uint32_t said = 0;
    std::memcpy(&said, block.data(), sizeof said);
    return said;
}

}  // namespace

void pack_nibbles(std::span<const double> codes,
                  std::span<std::byte> block,
                  std::vector<std::int32_t>& rest) {
    const NibbleBlock parts(codes.size());
    rest.clear();
    std::memset(block.data(), 0, parts.digits);
    std::uint32_t taken = 0;
    for (std::size_t first = 0; first < codes.size(); first += group) {
        const std::size_t count = std::min(group, codes.size() - first);
        if (!pack_group(codes.data() + first, count, block.data() + parts.digits + first / 2))
            continue;
        for (std::size_t i = first; i < first + count; ++i) {
            if (!is_long(codes[i])) continue;
            const auto code = static_cast<std::int32_t>(codes[i]);
            if (taken < parts.room)
                std::memcpy(
                    block.data() + NibbleBlock::head + taken * sizeof code, &code, sizeof code);
            else
                rest.push_back(code);
            ++taken;
        }
    }
    std::memcpy(block.data(), &taken, sizeof taken);
}

std::size_t nibbles_after(std::span<const std::byte> block, std::size_t count) {
    const std::size_t said = long_codes_in(block);
    if (said > count)
        throw DataError(
            fmt::format("{} of {} values have 32 bits (allowed: up to {})", said, count, count));
    const std::size_t room = nibble_room(count);
    return said > room ? said - room : 0;
}

void unpack_nibbles(std::span<const std::byte> block,
                    std::span<const std::int32_t> rest,
                    std::span<double> codes) {
    const NibbleBlock parts(codes.size());
    const std::size_t said = long_codes_in(block);
    std::size_t taken = 0;
    for (std::size_t first = 0; first < codes.size(); first += group) {
        const std::size_t count = std::min(group, codes.size() - first);
        if (!unpack_group(block.data() + parts.digits + first / 2, count, codes.data() + first))
            continue;
        for (std::size_t i = first; i < first + count; ++i) {
            if (codes[i] >= -largest_nibble) continue;
            std::int32_t code = 0;
            if (taken < parts.room)
                std::memcpy(
                    &code, block.data() + NibbleBlock::head + taken * sizeof code, sizeof code);
            else if (taken - parts.room < rest.size())
                code = rest[taken - parts.room];
            if (!(std::abs(static_cast<double>(code)) <= largest_code))
                throw DataError(fmt::format("coordinate {} moves by {} steps (allowed: -{} to {})",
                                            i,
                                            code,
                                            largest_code,
                                            largest_code));
            codes[i] = code;
            ++taken;
        }
    }
    if (taken != said)
        throw DataError(
            fmt::format("{} values have 32 bits, and the message says that {} have", taken, said));
}

std::size_t nibble_rest_bytes(std::span<const double> codes) {
    const auto all = static_cast<std::size_t>(std::ranges::count_if(codes, is_long));
    const std::size_t room = nibble_room(codes.size());
    return all > room ? (all - room) * sizeof(std::int32_t) : 0;
}

}  // namespace sotto
