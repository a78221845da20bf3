#include "sotto/core/hash.hpp"

#include <sodium.h>

#include "sotto/core/error.hpp"

namespace sotto {

struct Hasher::State {
    crypto_generichash_state blake2b;
};

Hasher::Hasher(std::string_view purpose) : state_(std::make_unique<State>()) {
    if (crypto_generichash_init(&state_->blake2b, nullptr, 0, sizeof(Digest)) != 0)
        throw CryptoError("libsodium: BLAKE2b could not be initialised");
    add(purpose);
}

Hasher::~Hasher() = default;

void Hasher::absorb(const void* data, std::size_t size) {
    crypto_generichash_update(&state_->blake2b, static_cast<const unsigned char*>(data), size);
}

Hasher& Hasher::add(std::string_view text) { return add(std::span(&text, 1)); }

Hasher& Hasher::add(std::span<const std::string_view> parts) {
    absorb("t", 1);
    std::uint64_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    absorb(&size, sizeof size);
    for (const std::string_view part : parts) absorb(part.data(), part.size());
    return *this;
}

Hasher& Hasher::add(std::int64_t value) {
    absorb("i", 1);
    absorb(&value, sizeof value);
    return *this;
}

Hasher& Hasher::add(double value) {
    absorb("d", 1);
    absorb(&value, sizeof value);
    return *this;
}

Hasher& Hasher::add(std::span<const double> values) {
    absorb("v", 1);
    const std::uint64_t size = values.size();
    absorb(&size, sizeof size);
    absorb(values.data(), values.size_bytes());
    return *this;
}

Hasher& Hasher::add_bytes(std::span<const std::uint8_t> bytes) {
    absorb("b", 1);
    const std::uint64_t size = bytes.size();
    absorb(&size, sizeof size);
    absorb(bytes.data(), bytes.size());
    return *this;
}

Digest Hasher::finish() {
    Digest digest{};
    crypto_generichash_final(&state_->blake2b, digest.data(), digest.size());
    return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

bool from_hex(std::string_view digits, std::span<std::uint8_t> bytes) {
    std::size_t length = 0;
    const char* end = nullptr;
    return digits.size() == 2 * bytes.size() &&
           sodium_hex2bin(
               bytes.data(), bytes.size(), digits.data(), digits.size(), nullptr, &length, &end) ==
               0 &&
           length == bytes.size() && end == digits.data() + digits.size();
}

}  // namespace sotto
