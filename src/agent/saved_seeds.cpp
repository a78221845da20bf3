#include "sotto/agent/saved_seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/trust/sealed_message.hpp"

namespace sotto {

namespace {

constexpr std::string_view seeds_magic = "sottosds";
constexpr std::uint32_t seeds_version = 1;
constexpr std::size_t seed_entry = sizeof(std::int32_t) + SecretKey::size;
constexpr std::int32_t coins_entry = -1;  // in place of a group's number

/// What sealed seeds begin with.
Digest binding(const Checkpoint& checkpoint, const Digest& plan) {
    Hasher hasher("sotto.saved-seeds.v2");
    hasher.add_bytes(digest_of(checkpoint));
    hasher.add_bytes(plan);
    return hasher.finish();
}

std::string file_head() {
    std::string head(seeds_magic);
    head.append(reinterpret_cast<const char*>(&seeds_version), sizeof seeds_version);
    return head;
}

}  // namespace

std::string seal_seeds_for(const Identity& identity,
                           const KeyRing& ring,
                           const Checkpoint& checkpoint,
                           const Digest& plan) {
    const auto groups = ring.groups();
    const Digest bound = binding(checkpoint, plan);
    const std::size_t entries = groups.size() + (ring.holds_coins() ? 1 : 0);
    SecretBytes content(bound.size() + entries * seed_entry);
    auto out = std::ranges::copy(bound, content.span().begin()).out;
    const auto put = [&](std::int32_t number, const SecretKey& key) {
        std::memcpy(&*out, &number, sizeof number);
        out = std::ranges::copy(key.bytes(), out + sizeof number).out;
    };
    for (const int group : groups) put(group, ring.seed(group));
    if (ring.holds_coins()) put(coins_entry, ring.coins());
    return seal(identity.storage_key(),
                SealPurpose::saved_seeds,
                checkpoint.agent,
                checkpoint.agent,
                content.span());
}

KeyRing open_seeds_of(const Identity& identity,
                      std::string_view sealed,
                      const Checkpoint& checkpoint,
                      const Digest& plan,
                      int place) {
    const SecretBytes content = open_sealed(identity.storage_key(),
                                            SealPurpose::saved_seeds,
                                            checkpoint.agent,
                                            checkpoint.agent,
                                            sealed);
    const auto bytes = content.span();
    const Digest bound = binding(checkpoint, plan);
    if (bytes.size() < bound.size() || (bytes.size() - bound.size()) % seed_entry != 0 ||
        !std::ranges::equal(bytes.first(bound.size()), bound))
        throw CryptoError(fmt::format(
            "agent {}: the saved seeds belong to another checkpoint or plan", checkpoint.agent));
    KeyRing ring(place);
    for (std::size_t at = bound.size(); at < bytes.size(); at += seed_entry) {
        std::int32_t group = 0;
        std::memcpy(&group, bytes.data() + at, sizeof group);
        auto key = SecretKey::from_bytes(bytes.subspan(at + sizeof group, SecretKey::size));
        if (group == coins_entry)
            ring.add_coins(std::move(key));
        else
            ring.add(group, std::move(key));
    }
    return ring;
}

void write_saved_seeds(const std::filesystem::path& path, std::string_view sealed) {
    write_file_atomically(path, file_head().append(sealed), Readers::owner);
}

std::string read_saved_seeds(const std::filesystem::path& path) {
    std::string bytes = read_file(path);
    const std::string head = file_head();
    if (!bytes.starts_with(head))
        throw DataError(
            fmt::format("saved seeds {}: they are none, or of another version (allowed: {})",
                        path.string(),
                        seeds_version));
    bytes.erase(0, head.size());
    return bytes;
}

}  // namespace sotto
