#include "net/mpi/protection.hpp"

#include <fmt/format.h>

#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

std::vector<int> agents_of(const AgentBlocks& blocks, int process) {
    std::vector<int> agents(static_cast<std::size_t>(blocks.size(process)));
    std::iota(agents.begin(), agents.end(), blocks.first(process));
    return agents;
}

}  // namespace

void require_own_secrets(std::span<const PairSecrets> secrets,
                         const AgentBlocks& blocks,
                         int process) {
    const int first = blocks.first(process), agents = blocks.size(process);
    bool own = secrets.size() == static_cast<std::size_t>(agents);
    for (std::size_t a = 0; own && a < secrets.size(); ++a)
        own = secrets[a].agent() == first + static_cast<int>(a);
    if (!own)
        throw Error(ExitCode::other,
                    fmt::format("encryption of rank {} needs the secrets of agents {} to {}, and "
                                "of no others",
                                process,
                                first,
                                first + agents - 1));
}

std::vector<LinkCipher> process_ciphers(std::span<PairSecrets> own,
                                        const AgentBlocks& blocks,
                                        std::span<const int> processes,
                                        std::uint32_t key_epoch,
                                        LinkUse use,
                                        AeadCipher cipher) {
    std::vector<LinkCipher> ciphers;
    for (const int process : processes)
        ciphers.emplace_back(own, agents_of(blocks, process), key_epoch, use, cipher);
    return ciphers;
}

std::vector<LinkCipher> collection_ciphers(std::span<PairSecrets> own,
                                           const AgentBlocks& blocks,
                                           std::uint32_t key_epoch,
                                           AeadCipher cipher) {
    std::vector<int> processes{0};
    if (own.front().agent() == 0) {
        processes.resize(static_cast<std::size_t>(blocks.processes() - 1));
        std::iota(processes.begin(), processes.end(), 1);
    }
    return process_ciphers(own, blocks, processes, key_epoch, LinkUse::collection, cipher);
}

}  // namespace sotto
