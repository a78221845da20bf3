#include "sotto/trust/ephemeral_key_pair.hpp"

#include <sodium.h>

#include "sotto/core/error.hpp"

namespace sotto {

EphemeralKeyPair::EphemeralKeyPair() : secret_(SecretKey::random()) {
    static_assert(crypto_box_SECRETKEYBYTES == SecretKey::size && crypto_box_PUBLICKEYBYTES == 32);
    if (crypto_scalarmult_base(public_.data(), secret_.bytes().data()) != 0)
        throw CryptoError("cannot make an X25519 key pair");
}

}  // namespace sotto
