#include "protection.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

PairSecrets& own_secrets(std::span<PairSecrets> secrets, int rank) {
    if (secrets.size() != 1 || secrets.front().agent() != rank)
        throw Error(
            ExitCode::other,
            fmt::format("encryption of rank {} needs the secrets of agent {}, and of no other",
                        rank,
                        rank));
    return secrets.front();
}

std::vector<LinkCipher> edge_ciphers(PairSecrets& own,
                                     std::span<const int> neighbours,
                                     std::uint32_t key_epoch) {
    std::vector<LinkCipher> ciphers;
    for (const int peer : neighbours) ciphers.emplace_back(own, peer, key_epoch, LinkUse::exchange);
    return ciphers;
}

std::vector<LinkCipher> collection_ciphers(PairSecrets& own, int ranks, std::uint32_t key_epoch) {
    std::vector<LinkCipher> ciphers;
    const bool collects = own.agent() == 0;
    for (int peer = collects ? 1 : 0; peer < (collects ? ranks : 1); ++peer)
        ciphers.emplace_back(own, peer, key_epoch, LinkUse::collection);
    return ciphers;
}

}  // namespace sotto
