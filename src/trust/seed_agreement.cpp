#include "trust/seed_agreement.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

#include "sotto/core/error.hpp"
#include "trust/handshake.hpp"
#include "trust/secret.hpp"

namespace sotto {

namespace {

constexpr std::size_t number_size = 4;
/// Of a group's number and its seed.
constexpr std::size_t entry_size = number_size + SecretKey::size;

void put_number(std::uint8_t* at, int number) {
    for (std::size_t i = 0; i < number_size; ++i)
        at[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(number) >> (8 * i));
}

int get_number(const std::uint8_t* at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < number_size; ++i) number |= std::uint32_t{at[i]} << (8 * i);
    return static_cast<int>(number);
}

}  // namespace

SeedMaker maker_of(const SeedGroup& group, int agents) {
    switch (group.members.size()) {
        case 1:
            return SeedMaker::owner;
        case 2:
            return SeedMaker::pair;
        default:
            return static_cast<int>(group.members.size()) == agents ? SeedMaker::everybody
                                                                    : SeedMaker::lowest_member;
    }
}

std::vector<std::vector<int>> groups_of_agents(const NoisePlan& plan) {
    std::vector<std::vector<int>> result(static_cast<std::size_t>(plan.agents));
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
        for (const int member : plan.groups[group].members)
            result[static_cast<std::size_t>(member)].push_back(static_cast<int>(group));
    return result;
}

SecretKey group_seed(const SecretKey& drawn, const Digest& transcript, int group) {
    SecretHash hash("sotto.group-seed.v1", drawn.bytes());
    hash.absorb(transcript);
    hash.absorb(group);
    return hash.finish();
}

SecretKey drawn_by_pair(const SecretKey& pair_secret, int group) {
    return pair_secret.derive("sottopsd", static_cast<std::uint64_t>(group));
}

SecretKey drawn_by_everybody(std::span<const std::uint8_t> shares) {
    SecretHash hash("sotto.joint-seed.v1", {});
    hash.absorb(shares);
    return hash.finish();
}

std::string seal_seeds(const SecretKey& pair_secret,
                       int sender,
                       int recipient,
                       std::span<const int> groups,
                       const std::map<int, SecretKey>& drawn) {
    SecretBytes content(groups.size() * entry_size);
    std::uint8_t* at = content.span().data();
    for (const int group : groups) {
        const auto found = drawn.find(group);
        if (found == drawn.end())
            throw CryptoError(
                fmt::format("agent {} has drawn no seed for group {}", sender, group));
        put_number(at, group);
        const auto seed = found->second.bytes();
        std::copy(seed.begin(), seed.end(), at + number_size);
        at += entry_size;
    }
    return seal(pair_secret, SealPurpose::seeds, sender, recipient, content.span());
}

std::vector<SecretKey> open_seeds(const SecretKey& pair_secret,
                                  int sender,
                                  int recipient,
                                  std::span<const int> groups,
                                  std::string_view sealed) {
    const SecretBytes content =
        open_sealed(pair_secret, SealPurpose::seeds, sender, recipient, sealed);
    if (content.span().size() != groups.size() * entry_size)
        throw CryptoError(
            fmt::format("agent {} sent {} bytes of seeds to agent {}; the plan lets it give {} "
                        "groups of {} bytes",
                        sender,
                        content.span().size(),
                        recipient,
                        groups.size(),
                        entry_size));
    std::vector<SecretKey> seeds;
    seeds.reserve(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto entry = content.span().subspan(i * entry_size, entry_size);
        const int group = get_number(entry.data());
        if (group != groups[i])
            throw CryptoError(
                fmt::format("agent {} sent agent {} the seed of group {} where the plan gives it "
                            "group {}",
                            sender,
                            recipient,
                            group,
                            groups[i]));
        seeds.push_back(SecretKey::from_bytes(entry.subspan(number_size)));
    }
    return seeds;
}

void check_shares(std::span<const std::uint8_t> shares, std::span<const Digest> commitments) {
    if (shares.size() != commitments.size() * SecretKey::size)
        throw CryptoError(fmt::format("{} bytes of shares of {} agents, {} bytes each",
                                      shares.size(),
                                      commitments.size(),
                                      SecretKey::size));
    for (std::size_t u = 0; u < commitments.size(); ++u) {
        const int agent = static_cast<int>(u);
        if (commitment_to_share(agent, shares.subspan(u * SecretKey::size, SecretKey::size)) !=
            commitments[u])
            throw CryptoError(fmt::format(
                "the share of agent {} in the seed of all agents is not what it committed to",
                agent));
    }
}

std::vector<KeyRing> reproducible_rings(const NoisePlan& plan,
                                        std::span<const int> agents,
                                        std::uint64_t noise_seed) {
    const auto groups = groups_of_agents(plan);
    std::vector<KeyRing> rings;
    for (const int agent : agents) {
        KeyRing& ring = rings.emplace_back(agent);
        for (const int group : groups[static_cast<std::size_t>(agent)])
            ring.add(group,
                     SecretKey::from_noise_seed(
                         noise_seed, "sotto.noise.group", static_cast<std::uint64_t>(group)));
    }
    return rings;
}

namespace {

constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == SecretKey::size);

/// Each direction and purpose has its own key.
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
