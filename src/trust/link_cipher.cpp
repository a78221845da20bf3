#include "trust/link_cipher.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "trust/aead.hpp"
#include "trust/secret.hpp"

namespace sotto {

namespace {

static_assert(aead_key_bytes == SecretKey::size);
static_assert(aead_tag_bytes == LinkCipher::tag_size);

std::string name_of(int first, int last) {
    return first == last ? fmt::format("agent {}", first)
                         : fmt::format("agents {} to {}", first, last);
}

/// The secret of the pair, or the hash of the secrets of pairs that cover every agent.
SecretKey shared_secret(std::span<PairSecrets> secrets, std::span<const int> peers) {
    if (secrets.size() == 1 && peers.size() == 1) return secrets[0].with(peers[0]).clone();
    SecretHash hash("sotto.process-secret.v1", {});
    for (std::size_t i = 0; i < std::max(secrets.size(), peers.size()); ++i)
        hash.absorb(secrets[i % secrets.size()].with(peers[i % peers.size()]).bytes());
    return hash.finish();
}

/// @param upwards from the lower end to the higher.
SecretKey key_of(const SecretKey& shared, bool upwards, std::uint32_t key_epoch, LinkUse use) {
    return shared.derive(use == LinkUse::exchange ? "sottolnk" : "sottocol",
                         2 * std::uint64_t{key_epoch} + (upwards ? 0 : 1));
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
    : LinkCipher({&secrets, 1}, {&peer, 1}, key_epoch, use) {}

LinkCipher::LinkCipher(std::span<PairSecrets> secrets,
                       std::span<const int> peers,
                       std::uint32_t key_epoch,
                       LinkUse use)
    : LinkCipher(
          shared_secret(secrets, peers), secrets.front().agent() < peers.front(), key_epoch, use) {
    own_ = name_of(secrets.front().agent(), secrets.back().agent());
    peer_ = name_of(peers.front(), peers.back());
}

LinkCipher::LinkCipher(const SecretKey& shared, bool lower, std::uint32_t key_epoch, LinkUse use)
    : use_(use),
      outgoing_(key_of(shared, lower, key_epoch, use)),
      incoming_(key_of(shared, !lower, key_epoch, use)) {
    ensure_sodium();
}

void LinkCipher::seal(const ChunkAddress& address,
                      std::span<const std::uint8_t> message,
                      std::span<std::uint8_t> sealed) {
    check_sizes(message.size(), sealed.size());
    const auto nonce = nonce_of(address);
    if (!(address > last_sealed_))
        throw CryptoError(
            fmt::format("message from {} to {}, round {}, step {}, chunk {}: it does "
                        "not come after round {}, step {}, chunk {}, and no nonce is used twice",
                        own_,
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
        throw CryptoError(
            fmt::format("message from {} to {}, {} {}, step {}: it was changed on the way, or "
                        "belongs to another round, edge or run",
                        peer_,
                        own_,
                        use_ == LinkUse::exchange ? "round" : "evaluation message",
                        address.round,
                        address.step));
}

}  // namespace sotto
