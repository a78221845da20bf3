#include "secret_hash.hpp"

#include <array>

namespace sotto {

SecretHash::SecretHash(std::string_view purpose, std::span<const std::uint8_t> key) {
    ensure_sodium();
    crypto_generichash_init(&state_, key.data(), key.size(), SecretKey::size);
    absorb({reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size()});
}

SecretHash::~SecretHash() { sodium_memzero(&state_, sizeof state_); }

void SecretHash::absorb(std::span<const std::uint8_t> bytes) {
    crypto_generichash_update(&state_, bytes.data(), bytes.size());
}

void SecretHash::absorb(int number) {
    std::array<std::uint8_t, 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(number) >> (8 * i));
    absorb(bytes);
}

SecretKey SecretHash::finish() {
    std::array<std::uint8_t, SecretKey::size> digest{};
    crypto_generichash_final(&state_, digest.data(), digest.size());
    SecretKey key = SecretKey::from_bytes(digest);
    sodium_memzero(digest.data(), digest.size());
    return key;
}

}  // namespace sotto
