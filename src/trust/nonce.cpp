#include "nonce.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void put(std::uint8_t* at, std::int64_t number, int bits, const char* name) {
    if (number < 0 || number >= std::int64_t{1} << bits)
        throw CryptoError(fmt::format(
            "{} {} of a message: encryption needs 0 <= {} < 2^{}", name, number, name, bits));
    for (int i = 0; i < bits / 8; ++i) at[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

}  // namespace

std::array<std::uint8_t, 12> nonce_of(const ChunkAddress& address) {
    std::array<std::uint8_t, 12> nonce{};
    put(nonce.data(), address.round, 48, "round");
    put(nonce.data() + 6, address.step, 16, "gossip step");
    put(nonce.data() + 8, address.chunk, 32, "chunk");
    return nonce;
}

}  // namespace sotto
