#include "trust/aead.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_OPENSSL
#include "openssl_cipher.hpp"
#endif

namespace sotto {

namespace {

static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == aead_key_bytes);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == aead_tag_bytes);
static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == aead_nonce_bytes);

#ifdef SOTTO_HAVE_OPENSSL
/// Below it OpenSSL is slower; OpenSSL's lengths are of type int.
constexpr std::size_t least_for_openssl_aead = 512;
constexpr std::size_t most_for_openssl_aead = std::numeric_limits<int>::max();

const EVP_CIPHER* openssl_aead() {
    static const OpensslCipher cipher = openssl_cipher("ChaCha20-Poly1305");
    return cipher.get();
}

/// One per thread: making one takes as long as sealing a kilobyte.
EVP_CIPHER_CTX* own_context() {
    static thread_local const OpensslContext context = openssl_context();
    return context.get();
}

/// A context that holds a key during one call and is zeroed afterwards.
class Keyed {
  public:
    Keyed(AeadKey key, AeadNonce nonce, bool seals) : context_(own_context()) {
        ready_ =
            context_ != nullptr &&
            EVP_CipherInit_ex2(
                context_, openssl_aead(), key.data(), nonce.data(), seals ? 1 : 0, nullptr) == 1;
    }
    ~Keyed() {
        static constexpr std::array<std::uint8_t, aead_key_bytes> zeros{};
        if (context_ != nullptr)
            EVP_CipherInit_ex2(context_, nullptr, zeros.data(), zeros.data(), -1, nullptr);
    }
    Keyed(const Keyed&) = delete;
    Keyed& operator=(const Keyed&) = delete;

    bool turn(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
        int written = 0;
        return ready_ &&
               EVP_CipherUpdate(
                   context_, out.data(), &written, in.data(), static_cast<int>(in.size())) == 1 &&
               written == static_cast<int>(in.size());
    }
    /// True if the tag was made, or matches.
    bool finish() {
        std::array<std::uint8_t, aead_tag_bytes> nothing{};
        int written = 0;
        return ready_ && EVP_CipherFinal_ex(context_, nothing.data(), &written) == 1;
    }
    bool tag(int command, std::span<std::uint8_t, aead_tag_bytes> tag) {
        return ready_ && EVP_CIPHER_CTX_ctrl(
                             context_, command, static_cast<int>(tag.size()), tag.data()) == 1;
    }

  private:
    EVP_CIPHER_CTX* context_;
    bool ready_ = false;
};

bool openssl_serves(std::size_t bytes) {
    return bytes >= least_for_openssl_aead && bytes <= most_for_openssl_aead &&
           openssl_aead() != nullptr;
}
#endif

}  // namespace

void aead_seal(AeadKey key,
               AeadNonce nonce,
               std::span<const std::uint8_t> message,
               std::span<std::uint8_t> sealed) {
#ifdef SOTTO_HAVE_OPENSSL
    if (openssl_serves(message.size())) {
        Keyed context(key, nonce, true);
        if (!context.turn(message, sealed.first(message.size())) || !context.finish() ||
            !context.tag(EVP_CTRL_AEAD_GET_TAG, sealed.last<aead_tag_bytes>()))
            throw CryptoError("OpenSSL did not seal a message");
        return;
    }
#endif
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(sealed.data(),
                                                       sealed.data() + message.size(),
                                                       nullptr,
                                                       message.data(),
                                                       message.size(),
                                                       nullptr,
                                                       0,
                                                       nullptr,
                                                       nonce.data(),
                                                       key.data());
}

bool aead_open(AeadKey key,
               AeadNonce nonce,
               std::span<const std::uint8_t> sealed,
               std::span<std::uint8_t> message) {
#ifdef SOTTO_HAVE_OPENSSL
    if (openssl_serves(message.size())) {
        std::array<std::uint8_t, aead_tag_bytes> tag;
        std::copy_n(sealed.data() + message.size(), tag.size(), tag.data());
        Keyed context(key, nonce, false);
        return context.tag(EVP_CTRL_AEAD_SET_TAG, tag) &&
               context.turn(sealed.first(message.size()), message) && context.finish();
    }
#endif
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(message.data(),
                                                              nullptr,
                                                              sealed.data(),
                                                              message.size(),
                                                              sealed.data() + message.size(),
                                                              nullptr,
                                                              0,
                                                              nonce.data(),
                                                              key.data()) == 0;
}

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
