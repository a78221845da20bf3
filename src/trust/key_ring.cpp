#include "sotto/trust/key_ring.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t number_size = 4;
constexpr std::size_t record_size = number_size + SecretKey::size;

SecretKey draw_seed(const std::uint64_t* noise_seed, std::size_t group) {
    return noise_seed == nullptr
               ? SecretKey::random()
               : SecretKey::from_noise_seed(*noise_seed, "sotto.noise.group", group);
}

/// The groups of several members that contain the agent, ascending.
std::vector<int> dealt_groups(const NoisePlan& plan, int agent) {
    std::vector<int> result;
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
        const auto& members = plan.groups[group].members;
        if (members.size() >= 2 &&
            std::find(members.begin(), members.end(), agent) != members.end())
            result.push_back(static_cast<int>(group));
    }
    return result;
}

/// Seeds side by side in ordinary memory, wiped on every way out.
struct PlainSeeds {
    explicit PlainSeeds(std::size_t size) : bytes(size) {}
    PlainSeeds(const PlainSeeds&) = delete;
    PlainSeeds& operator=(const PlainSeeds&) = delete;
    ~PlainSeeds() { sodium_memzero(bytes.data(), bytes.size()); }
    std::vector<std::uint8_t> bytes;
};

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

void KeyRing::add(int group, SecretKey seed) {
    if (holds(group))
        throw CryptoError(
            fmt::format("agent {} already holds the seed of group {}", agent_, group));
    seeds_.emplace(group, std::move(seed));
}

std::vector<int> KeyRing::groups() const {
    std::vector<int> result;
    result.reserve(seeds_.size());
    for (const auto& entry : seeds_) result.push_back(entry.first);
    return result;
}

const SecretKey& KeyRing::seed(int group) const {
    const auto found = seeds_.find(group);
    if (found == seeds_.end())
        throw CryptoError(
            fmt::format("agent {} does not hold the seed of group {}", agent_, group));
    return found->second;
}

NormalStream KeyRing::stream(int group, std::uint64_t index) const {
    return NormalStream(seed(group).derive("sottostr", index));
}

void draw_own_seeds(const NoisePlan& plan, const std::uint64_t* noise_seed, KeyRing& ring) {
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
        const auto& members = plan.groups[group].members;
        if (members.size() == 1 && members.front() == ring.agent())
            ring.add(static_cast<int>(group), draw_seed(noise_seed, group));
    }
}

std::map<int, SecretKey> draw_dealt_seeds(const NoisePlan& plan, const std::uint64_t* noise_seed) {
    std::map<int, SecretKey> seeds;
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
        if (plan.groups[group].members.size() >= 2)
            seeds.emplace(static_cast<int>(group), draw_seed(noise_seed, group));
    return seeds;
}

EphemeralKeyPair::EphemeralKeyPair() : secret_(SecretKey::random()) {
    static_assert(crypto_box_SECRETKEYBYTES == SecretKey::size && crypto_box_PUBLICKEYBYTES == 32);
    if (crypto_scalarmult_base(public_.data(), secret_.bytes().data()) != 0)
        throw CryptoError("cannot make an X25519 key pair");
}

std::vector<std::uint8_t> seal_seeds(const NoisePlan& plan,
                                     const std::map<int, SecretKey>& seeds,
                                     int recipient,
                                     std::span<const std::uint8_t, 32> public_key) {
    ensure_sodium();
    const std::vector<int> entitled = dealt_groups(plan, recipient);
    PlainSeeds plain(entitled.size() * record_size);
    std::uint8_t* at = plain.bytes.data();
    for (const int group : entitled) {
        const auto found = seeds.find(group);
        if (found == seeds.end())
            throw CryptoError(
                fmt::format("no seed was drawn for group {} of agent {}", group, recipient));
        put_number(at, group);
        const auto seed = found->second.bytes();
        std::copy(seed.begin(), seed.end(), at + number_size);
        at += record_size;
    }
    std::vector<std::uint8_t> sealed(plain.bytes.size() + crypto_box_SEALBYTES);
    if (crypto_box_seal(sealed.data(), plain.bytes.data(), plain.bytes.size(), public_key.data()) !=
        0)
        throw CryptoError(fmt::format(
            "cannot seal the seeds of agent {}: its public key is unusable", recipient));
    return sealed;
}

void open_seeds(const NoisePlan& plan,
                std::span<const std::uint8_t> sealed,
                const EphemeralKeyPair& pair,
                KeyRing& ring) {
    ensure_sodium();
    const std::vector<int> entitled = dealt_groups(plan, ring.agent());
    if (sealed.size() < crypto_box_SEALBYTES)
        throw CryptoError(fmt::format("sealed seeds for agent {} have {} bytes; at least {} needed",
                                      ring.agent(),
                                      sealed.size(),
                                      crypto_box_SEALBYTES));
    PlainSeeds plain(sealed.size() - crypto_box_SEALBYTES);
    if (crypto_box_seal_open(plain.bytes.data(),
                             sealed.data(),
                             sealed.size(),
                             pair.public_key().data(),
                             pair.secret_key().bytes().data()) != 0)
        throw CryptoError(fmt::format(
            "the seeds sent to agent {} were damaged or sealed to another key", ring.agent()));
    if (plain.bytes.size() != entitled.size() * record_size)
        throw CryptoError(
            fmt::format("agent {} received {} bytes of seeds; the plan gives it {} "
                        "groups of {} bytes",
                        ring.agent(),
                        plain.bytes.size(),
                        entitled.size(),
                        record_size));
    // Everything is checked before anything is kept.
    for (std::size_t i = 0; i < entitled.size(); ++i) {
        const int group = get_number(plain.bytes.data() + i * record_size);
        if (group != entitled[i])
            throw CryptoError(
                fmt::format("agent {} received the seed of group {} where the plan "
                            "gives it group {}",
                            ring.agent(),
                            group,
                            entitled[i]));
    }
    for (std::size_t i = 0; i < entitled.size(); ++i)
        ring.add(
            entitled[i],
            SecretKey::from_bytes(
                std::span(plain.bytes).subspan(i * record_size + number_size, SecretKey::size)));
}

}  // namespace sotto
