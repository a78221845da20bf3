#include "trust/link_cipher.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "trust/secret.hpp"

namespace sotto {

namespace {

void put(std::uint8_t* at, std::int64_t number, int bits, const char* name) {
    if (number < 0 || number >= std::int64_t{1} << bits)
        throw CryptoError(fmt::format(
            "{} {} of a message: encryption needs 0 <= {} < 2^{}", name, number, name, bits));
    for (int i = 0; i < bits / 8; ++i) at[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

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
Aead aead_of(const SecretKey& shared,
             bool upwards,
             std::uint32_t key_epoch,
             LinkUse use,
             AeadCipher cipher) {
    const std::uint64_t id = 2 * std::uint64_t{key_epoch} + (upwards ? 0 : 1);
    const bool aes = cipher == AeadCipher::aes256_gcm;
    return {use == LinkUse::exchange ? shared.derive(aes ? "sottolka" : "sottolnk", id)
                                     : shared.derive(aes ? "sottocoa" : "sottocol", id),
            cipher};
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

std::array<std::uint8_t, aead_nonce_bytes> nonce_of(const ChunkAddress& address) {
    std::array<std::uint8_t, aead_nonce_bytes> nonce{};
    put(nonce.data(), address.round, 48, "round");
    put(nonce.data() + 6, address.step, 16, "gossip step");
    put(nonce.data() + 8, address.chunk, 32, "chunk");
    return nonce;
}

LinkCipher::LinkCipher(
    PairSecrets& secrets, int peer, std::uint32_t key_epoch, LinkUse use, AeadCipher cipher)
    : LinkCipher({&secrets, 1}, {&peer, 1}, key_epoch, use, cipher) {}

LinkCipher::LinkCipher(std::span<PairSecrets> secrets,
                       std::span<const int> peers,
                       std::uint32_t key_epoch,
                       LinkUse use,
                       AeadCipher cipher)
    : LinkCipher(shared_secret(secrets, peers),
                 secrets.front().agent() < peers.front(),
                 key_epoch,
                 use,
                 cipher) {
    own_ = name_of(secrets.front().agent(), secrets.back().agent());
    peer_ = name_of(peers.front(), peers.back());
}

LinkCipher::LinkCipher(
    const SecretKey& shared, bool lower, std::uint32_t key_epoch, LinkUse use, AeadCipher cipher)
    : use_(use),
      outgoing_(aead_of(shared, lower, key_epoch, use, cipher)),
      incoming_(aead_of(shared, !lower, key_epoch, use, cipher)) {}

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
    outgoing_.seal(nonce, message, sealed);
}

void LinkCipher::open(const ChunkAddress& address,
                      std::span<const std::uint8_t> sealed,
                      std::span<std::uint8_t> message) const {
    check_sizes(message.size(), sealed.size());
    const auto nonce = nonce_of(address);
    if (!incoming_.open(nonce, sealed, message))
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
