#include "keystream.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>

#ifdef SOTTO_HAVE_OPENSSL
#include "trust/openssl_cipher.hpp"
#endif
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

static_assert(crypto_stream_chacha20_ietf_KEYBYTES == Keystream::key_bytes);
static_assert(crypto_stream_chacha20_ietf_NONCEBYTES == Keystream::nonce_bytes);

constexpr std::size_t bytes_per_count = 64;

#ifdef SOTTO_HAVE_OPENSSL
/// Below, to begin costs OpenSSL more than it saves.
constexpr std::size_t least_for_openssl = 16384;

const EVP_CIPHER* openssl_chacha20() {
    static const OpensslCipher cipher = openssl_cipher("ChaCha20");
    return cipher.get();
}
#endif

}  // namespace

#ifdef SOTTO_HAVE_OPENSSL
struct Keystream::Fast {
    OpensslContext context = openssl_context();
};
#else
struct Keystream::Fast {};
#endif

Keystream::Keystream(std::span<const std::uint8_t, key_bytes> key,
                     std::span<const std::uint8_t, nonce_bytes> nonce,
                     std::uint32_t count,
                     [[maybe_unused]] std::size_t total)
    : key_(key), nonce_(nonce), count_(count) {
#ifdef SOTTO_HAVE_OPENSSL
    if (total < least_for_openssl || openssl_chacha20() == nullptr) return;
    auto fast = std::make_unique<Fast>();
    std::array<std::uint8_t, sizeof count + nonce_bytes> start{};
    for (std::size_t i = 0; i < sizeof count; ++i)
        start[i] = static_cast<std::uint8_t>(count >> (8 * i));
    std::ranges::copy(nonce, start.begin() + sizeof count);
    if (fast->context != nullptr &&
        EVP_EncryptInit_ex2(
            fast->context.get(), openssl_chacha20(), key.data(), start.data(), nullptr) == 1)
        fast_ = std::move(fast);
#endif
}

Keystream::~Keystream() = default;

void Keystream::next(std::span<std::uint8_t> out) {
    // A cipher's keystream is what it makes of zeros.
    std::ranges::fill(out, std::uint8_t{0});
#ifdef SOTTO_HAVE_OPENSSL
    if (fast_ != nullptr) {
        int written = 0;
        if (EVP_EncryptUpdate(fast_->context.get(),
                              out.data(),
                              &written,
                              out.data(),
                              static_cast<int>(out.size())) != 1 ||
            written != static_cast<int>(out.size()))
            throw Error(ExitCode::other, "OpenSSL made no keystream");
        return;
    }
#endif
    crypto_stream_chacha20_ietf_xor_ic(
        out.data(), out.data(), out.size(), nonce_.data(), count_, key_.data());
    count_ += static_cast<std::uint32_t>(out.size() / bytes_per_count);
}

}  // namespace sotto
