#include "trust/aead.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_OPENSSL
#include "openssl_cipher.hpp"
#endif

namespace sotto {

namespace {

static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == SecretKey::size);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == aead_tag_bytes);
static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == aead_nonce_bytes);
static_assert(crypto_aead_aes256gcm_KEYBYTES == SecretKey::size);
static_assert(crypto_aead_aes256gcm_ABYTES == aead_tag_bytes);
static_assert(crypto_aead_aes256gcm_NPUBBYTES == aead_nonce_bytes);

auto* aes_state(const GuardedBytes& bytes) {
    return reinterpret_cast<crypto_aead_aes256gcm_state*>(bytes.data());
}

#ifdef SOTTO_HAVE_OPENSSL
/// OpenSSL's lengths are of type int.
constexpr std::size_t most_for_openssl_aead = std::numeric_limits<int>::max();

/// Below it OpenSSL is slower.
constexpr std::size_t least_for_openssl_aead(AeadCipher cipher) {
    return cipher == AeadCipher::aes256_gcm ? 2048 : 512;
}

const EVP_CIPHER* openssl_aead(AeadCipher cipher) {
    static const OpensslCipher chacha = openssl_cipher("ChaCha20-Poly1305");
    static const OpensslCipher aes = openssl_cipher("AES-256-GCM");
    return (cipher == AeadCipher::aes256_gcm ? aes : chacha).get();
}

/// One per thread: making one takes as long as sealing a kilobyte.
EVP_CIPHER_CTX* own_context() {
    static thread_local const OpensslContext context = openssl_context();
    return context.get();
}

/// A context that holds a key during one call and is zeroed afterwards.
class Keyed {
  public:
    Keyed(AeadCipher cipher,
          std::span<const std::uint8_t, SecretKey::size> key,
          AeadNonce nonce,
          bool seals)
        : context_(own_context()) {
        ready_ =
            context_ != nullptr &&
            EVP_CipherInit_ex2(
                context_, openssl_aead(cipher), key.data(), nonce.data(), seals ? 1 : 0, nullptr) ==
                1;
    }
    ~Keyed() {
        static constexpr std::array<std::uint8_t, SecretKey::size> zeros{};
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

bool openssl_serves(AeadCipher cipher, std::size_t bytes) {
    return bytes >= least_for_openssl_aead(cipher) && bytes <= most_for_openssl_aead &&
           openssl_aead(cipher) != nullptr;
}
#endif

}  // namespace

const char* name_of(AeadCipher cipher) {
    return cipher == AeadCipher::aes256_gcm ? "AES-256-GCM" : "ChaCha20-Poly1305";
}

bool has_aes256_gcm() {
    ensure_sodium();
    return crypto_aead_aes256gcm_is_available() == 1;
}

Aead::Aead(SecretKey key, AeadCipher cipher)
    : key_(std::move(key)),
      cipher_(cipher),
      round_keys_(cipher == AeadCipher::aes256_gcm ? sizeof(crypto_aead_aes256gcm_state) : 0) {
    if (cipher_ != AeadCipher::aes256_gcm) return;
    if (!has_aes256_gcm()) throw CryptoError("AES-256-GCM: this processor lacks its instructions");
    crypto_aead_aes256gcm_beforenm(aes_state(round_keys_), key_.bytes().data());
}

void Aead::seal(AeadNonce nonce,
                std::span<const std::uint8_t> message,
                std::span<std::uint8_t> sealed) const {
    std::uint8_t* const tag = sealed.data() + message.size();
#ifdef SOTTO_HAVE_OPENSSL
    if (openssl_serves(cipher_, message.size())) {
        Keyed context(cipher_, key_.bytes(), nonce, true);
        if (!context.turn(message, sealed.first(message.size())) || !context.finish() ||
            !context.tag(EVP_CTRL_AEAD_GET_TAG, sealed.last<aead_tag_bytes>()))
            throw CryptoError("OpenSSL did not seal a message");
        return;
    }
#endif
    if (cipher_ == AeadCipher::aes256_gcm)
        crypto_aead_aes256gcm_encrypt_detached_afternm(sealed.data(),
                                                       tag,
                                                       nullptr,
                                                       message.data(),
                                                       message.size(),
                                                       nullptr,
                                                       0,
                                                       nullptr,
                                                       nonce.data(),
                                                       aes_state(round_keys_));
    else
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(sealed.data(),
                                                           tag,
                                                           nullptr,
                                                           message.data(),
                                                           message.size(),
                                                           nullptr,
                                                           0,
                                                           nullptr,
                                                           nonce.data(),
                                                           key_.bytes().data());
}

bool Aead::open(AeadNonce nonce,
                std::span<const std::uint8_t> sealed,
                std::span<std::uint8_t> message) const {
    const std::uint8_t* const tag = sealed.data() + message.size();
#ifdef SOTTO_HAVE_OPENSSL
    if (openssl_serves(cipher_, message.size())) {
        std::array<std::uint8_t, aead_tag_bytes> wanted;
        std::copy_n(tag, wanted.size(), wanted.data());
        Keyed context(cipher_, key_.bytes(), nonce, false);
        return context.tag(EVP_CTRL_AEAD_SET_TAG, wanted) &&
               context.turn(sealed.first(message.size()), message) && context.finish();
    }
#endif
    if (cipher_ == AeadCipher::aes256_gcm)
        return crypto_aead_aes256gcm_decrypt_detached_afternm(message.data(),
                                                              nullptr,
                                                              sealed.data(),
                                                              message.size(),
                                                              tag,
                                                              nullptr,
                                                              0,
                                                              nonce.data(),
                                                              aes_state(round_keys_)) == 0;
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(message.data(),
                                                              nullptr,
                                                              sealed.data(),
                                                              message.size(),
                                                              tag,
                                                              nullptr,
                                                              0,
                                                              nonce.data(),
                                                              key_.bytes().data()) == 0;
}

}  // namespace sotto
