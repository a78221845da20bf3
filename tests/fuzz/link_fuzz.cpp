// A message of an exchange, encrypted, and its address.

#include "support.hpp"
#include "trust/link_cipher.hpp"
#include "trust/pair_fixtures.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    static auto secrets = test::pair_secrets(2);
    fuzz::Changes changes(data, size);
    const auto cipher = changes.byte() % 2 == 1 && has_aes256_gcm() ? AeadCipher::aes256_gcm
                                                                    : AeadCipher::chacha20_poly1305;
    LinkCipher sender(secrets[0], 1, 0, LinkUse::exchange, cipher);
    const LinkCipher receiver(secrets[1], 0, 0, LinkUse::exchange, cipher);
    const ChunkAddress sent{changes.byte(), changes.byte() % 4, changes.byte() % 4};
    const ChunkAddress expected{changes.byte(), changes.byte() % 4, changes.byte() % 4};
    const std::vector<std::uint8_t> message(changes.byte() % 80, 42);
    std::string sealed(message.size() + LinkCipher::tag_size, '\0');
    const auto bytes_of = [](std::string& text) {
        return std::span(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
    };
    sender.seal(sent, message, bytes_of(sealed));
    // The number of bytes is the receiver's choice.
    std::string arrived = changes.apply(sealed);
    arrived.resize(sealed.size());
    std::vector<std::uint8_t> opened(message.size());
    if (fuzz::accepts([&] { receiver.open(expected, bytes_of(arrived), opened); }))
        fuzz::require(arrived == sealed && sent == expected && opened == message);
    return 0;
}
