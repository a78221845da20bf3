#include "simulation/observer.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace sotto::simulation {

namespace {

std::uint64_t word(const std::uint8_t* bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// Zeros and round numbers are everywhere.
bool telling(std::uint64_t value) {
    int different = 0;
    bool seen[256] = {};
    for (int i = 0; i < 8; ++i) {
        const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
        different += seen[byte] ? 0 : 1;
        seen[byte] = true;
    }
    return different >= 4;
}

/// Of a stream of normals: epoch (32 bits), round (64). Those of masks ascend in the same order.
std::pair<std::uint64_t, std::uint64_t> place_of(std::span<const std::uint8_t> nonce) {
    std::uint32_t epoch = 0;
    std::memcpy(&epoch, nonce.data(), sizeof epoch);
    return {epoch, word(nonce.data() + 4)};
}

}  // namespace

void Observer::violation(const std::string& text) {
    world_.trace("VIOLATION " + text);
    violations_.push_back(text);
}

long Observer::exchanges(int place) const {
    const auto found = ranks_.find(place);
    return found == ranks_.end() ? 0 : found->second.exchanges;
}

void Observer::use(const char* name, std::uint64_t a, std::uint64_t b, std::uint64_t content) {
    const auto [place, fresh] = now_.try_emplace({a, b}, content);
    if (fresh) uses_.push_back({{a, b}, content});
    const auto earlier = before_.find({a, b});
    if (place->second != content || (earlier != before_.end() && earlier->second != content))
        violation(fmt::format("{} of rank {} is used for two messages", name, current()->place));
}

void Observer::drew(std::span<const std::uint8_t> key, std::span<const std::uint8_t> nonce) {
    OfRank& own = ranks_[current()->place];
    const auto place = place_of(nonce);
    if (own.drawn.empty() && !own.exchanging) own.plain = 0;
    // Noise of past rounds may be drawn again beside that of the round.
    OfRank::Draws& draws = own.exchanging ? own.ahead : own.drawn;
    const auto [newest, fresh] = draws.try_emplace(hash_of(key), place, hash_of(nonce));
    if (!fresh && newest->second.first < place) newest->second = {place, hash_of(nonce)};
}

void Observer::sealed(std::span<const std::uint8_t> key,
                      std::span<const std::uint8_t> nonce,
                      std::span<const std::uint8_t> plain) {
    const std::uint64_t content = hash_of(plain);
    use("a cipher's nonce", hash_of(key), hash_of(nonce), content);
    OfRank& own = ranks_[current()->place];
    own.encrypted = true;
    own.plain = own.plain * 31 + content;
    uses_secret(key);
    add_secret(plain);
}

void Observer::sealed_copy(std::span<const std::uint8_t> key,
                           std::span<const std::uint8_t> nonce,
                           std::span<const std::uint8_t> plain,
                           const Checkpoint& checkpoint) {
    use("a cipher's nonce", hash_of(key), hash_of(nonce), hash_of(plain));
    uses_secret(key);
    add_secret(checkpoint.data.key);
}

void Observer::add_secret(std::span<const std::uint8_t> plain) {
    for (std::size_t at = 0; at + 16 <= plain.size(); at += 16)
        if (telling(word(plain.data() + at)) && telling(word(plain.data() + at + 8))) {
            const std::uint64_t first = word(plain.data() + at);
            secrets_.try_emplace(first, word(plain.data() + at + 8), false);
            first_bits_[first & 0xffff] = 1;
        }
}

void Observer::uses_secret(std::span<const std::uint8_t> secret) {
    if (secret.size() < 16) return;
    const std::uint64_t first = word(secret.data());
    secrets_.insert_or_assign(first, std::pair(word(secret.data() + 8), true));
    first_bits_[first & 0xffff] = 1;
}

void Observer::message_leaves(std::span<const std::uint8_t> bytes, bool to_neighbours) {
    OfRank& own = ranks_[current()->place];
    const std::uint64_t content = own.encrypted ? own.plain : hash_of(bytes);
    if (to_neighbours && own.exchanges % exchanges_a_round == 0)
        own.drawn.merge(std::exchange(own.ahead, {}));
    for (const auto& [key, nonce] : own.drawn)
        use("a round of noise",
            key + 1,
            nonce.second ^ static_cast<std::uint64_t>(current()->number),
            content);
    own.drawn.clear();
    if (!to_neighbours) return;
    if (Rank& rank = *current(); rank.calls_before < 0) {
        rank.calls_before = rank.calls;
        rank.writes_before = rank.writes;
    }
    ++own.exchanges;
    own.exchanging = true;
    if (on_exchange) on_exchange(*current(), own.exchanges);
}

void Observer::writes(std::span<const std::uint8_t> bytes) {
    written_.emplace_back(bytes.begin(), bytes.end());
}

bool Observer::found(std::span<const std::uint8_t> bytes, bool keys_only) const {
    for (std::size_t at = 0; at + 16 <= bytes.size(); ++at) {
        const std::uint64_t first = word(bytes.data() + at);
        if (first_bits_[first & 0xffff] == 0) continue;
        const auto secret = secrets_.find(first);
        if (secret != secrets_.end() && secret->second.first == word(bytes.data() + at + 8) &&
            (secret->second.second || !keys_only))
            return true;
    }
    return false;
}

void Observer::read_everything(const std::vector<Wire::Sent>& log) {
    for (const Wire::Sent& sent : log)
        if (found(sent.bytes, false))
            violation(fmt::format("rank {} sends a secret to rank {} in the clear ({} bytes)",
                                  sent.from,
                                  sent.to,
                                  sent.bytes.size()));
    for (const auto& bytes : written_)
        if (found(bytes, true)) violation("a secret key is on a disk");
}

}  // namespace sotto::simulation
