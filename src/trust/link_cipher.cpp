#include "sotto/trust/link_cipher.hpp"

#include <fmt/format.h>

#include "aead.hpp"
#include "nonce.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

static_assert(aead_key_bytes == SecretKey::size);
static_assert(aead_tag_bytes == LinkCipher::tag_size);

SecretKey key_from_to(
    PairSecrets& secrets, int from, int to, std::uint32_t key_epoch, LinkUse use) {
    const int peer = from == secrets.agent() ? to : from;
    const std::uint64_t direction = from < to ? 0 : 1;
    return secrets.with(peer).derive(use == LinkUse::exchange ? "sottolnk" : "sottocol",
                                     2 * std::uint64_t{key_epoch} + direction);
}

void check_sizes(std::size_t message, std::size_t sealed) {
    if (sealed != message + LinkCipher::tag_size)
        throw Error(
            ExitCode::other,
            fmt::format("sealed message of {} bytes for a message of {}; {} more are needed",
                        sealed,
                        message,
                        LinkCipher::tag_size));
}

}  // namespace

LinkCipher::LinkCipher(PairSecrets& secrets, int peer, std::uint32_t key_epoch, LinkUse use)
    : agent_(secrets.agent()),
      peer_(peer),
      use_(use),
      outgoing_(key_from_to(secrets, agent_, peer, key_epoch, use)),
      incoming_(key_from_to(secrets, peer, agent_, key_epoch, use)) {
    ensure_sodium();
}

void LinkCipher::seal(const ChunkAddress& address,
                      std::span<const std::uint8_t> message,
                      std::span<std::uint8_t> sealed) {
    check_sizes(message.size(), sealed.size());
    const auto nonce = nonce_of(address);
    if (!(address > last_sealed_))
        throw CryptoError(
            fmt::format("message from agent {} to agent {}, round {}, step {}, chunk {}: it does "
                        "not come after round {}, step {}, chunk {}, and no nonce is used twice",
                        agent_,
                        peer_,
                        address.round,
                        address.step,
                        address.chunk,
                        last_sealed_.round,
                        last_sealed_.step,
                        last_sealed_.chunk));
    last_sealed_ = address;
    aead_seal(outgoing_.bytes(), nonce, message, sealed);
}

void LinkCipher::open(const ChunkAddress& address,
                      std::span<const std::uint8_t> sealed,
                      std::span<std::uint8_t> message) const {
    check_sizes(message.size(), sealed.size());
    const auto nonce = nonce_of(address);
    if (!aead_open(incoming_.bytes(), nonce, sealed, message))
        throw CryptoError(fmt::format(
            "message from agent {} to agent {}, {} {}, step {}: it was changed on the way, or "
            "belongs to another round, edge or run",
            peer_,
            agent_,
            use_ == LinkUse::exchange ? "round" : "evaluation message",
            address.round,
            address.step));
}

}  // namespace sotto
