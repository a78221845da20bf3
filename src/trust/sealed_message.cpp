#include "sotto/trust/sealed_message.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == SecretKey::size);

/// Both directions, and every purpose, have a key of their own.
SecretKey sealing_key(const SecretKey& pair_secret,
                      SealPurpose purpose,
                      int sender,
                      int recipient) {
    return pair_secret.derive(
        "sottobox", 2 * std::uint64_t{static_cast<std::uint8_t>(purpose)} + (sender < recipient));
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string seal(const SecretKey& pair_secret,
                 SealPurpose purpose,
                 int sender,
                 int recipient,
                 std::span<const std::uint8_t> content) {
    ensure_sodium();
    const SecretKey key = sealing_key(pair_secret, purpose, sender, recipient);
    std::string sealed(nonce_size + content.size() + tag_size, '\0');
    randombytes_buf(sealed.data(), nonce_size);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(sealed) + nonce_size,
                                               nullptr,
                                               content.data(),
                                               content.size(),
                                               nullptr,
                                               0,
                                               nullptr,
                                               bytes_of(sealed),
                                               key.bytes().data());
    return sealed;
}

SecretBytes open_sealed(const SecretKey& pair_secret,
                        SealPurpose purpose,
                        int sender,
                        int recipient,
                        std::string_view sealed) {
    ensure_sodium();
    const auto fail = [&] {
        return CryptoError(
            fmt::format("what agent {} sealed for agent {} was changed, or is not from agent {}",
                        sender,
                        recipient,
                        sender));
    };
    if (sealed.size() < nonce_size + tag_size) throw fail();
    const SecretKey key = sealing_key(pair_secret, purpose, sender, recipient);
    SecretBytes content(sealed.size() - nonce_size - tag_size);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(content.span().data(),
                                                   nullptr,
                                                   nullptr,
                                                   bytes_of(sealed) + nonce_size,
                                                   sealed.size() - nonce_size,
                                                   nullptr,
                                                   0,
                                                   bytes_of(sealed),
                                                   key.bytes().data()) != 0)
        throw fail();
    return content;
}

}  // namespace sotto
