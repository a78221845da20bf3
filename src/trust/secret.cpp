#include "trust/secret.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

void ensure_sodium() {
    static const int status = sodium_init();
    if (status < 0) throw CryptoError("libsodium cannot start: no source of random bytes");
}

namespace {

std::atomic<bool> all_locked = true;

/// From guarded pages, wiped on sodium_free.
std::uint8_t* guarded(std::size_t size) {
    auto* const bytes = static_cast<std::uint8_t*>(sodium_malloc(size));
    if (bytes == nullptr) throw CryptoError("no guarded memory left for another secret key");
    // sodium_malloc locks too but does not report failure; locking twice is harmless.
    if (sodium_mlock(bytes, size) != 0) all_locked = false;
    return bytes;
}

/// Slots of one key each, inside guarded pages. A guarded allocation per key would cost four memory
/// mappings, and Linux allows a process 65 530: too few to host hundreds of agents. Free slots form
/// a list inside the slots, so releasing never allocates and cannot fail.
class SlotPool {
  public:
    std::uint8_t* acquire() {
        const std::lock_guard lock(mutex_);
        if (first_free_ == nullptr) grow();
        std::uint8_t* const slot = first_free_;
        std::memcpy(&first_free_, slot, sizeof first_free_);
        return slot;
    }

    void release(std::uint8_t* slot) noexcept {
        sodium_memzero(slot, SecretKey::size);
        const std::lock_guard lock(mutex_);
        std::memcpy(slot, &first_free_, sizeof first_free_);
        first_free_ = slot;
    }

  private:
    /// Fills a page of 4096 with libsodium's own 16 bytes.
    static constexpr std::size_t slots_per_page = 127;

    void grow() {
        std::uint8_t* const slots = guarded(slots_per_page * SecretKey::size);
        for (std::size_t i = slots_per_page; i-- > 0;) {
            std::uint8_t* const slot = slots + i * SecretKey::size;
            std::memcpy(slot, &first_free_, sizeof first_free_);
            first_free_ = slot;
        }
    }

    std::mutex mutex_;
    std::uint8_t* first_free_ = nullptr;
};

SlotPool& slot_pool() {
    // Never destroyed: a key in a static object may be released after all other statics.
    static SlotPool* const pool = new SlotPool;
    return *pool;
}

void absorb_integer(crypto_generichash_state& state, std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    crypto_generichash_update(&state, bytes.data(), bytes.size());
}

}  // namespace

bool secret_keys_locked() { return all_locked; }

GuardedBytes::GuardedBytes(std::size_t size) {
    ensure_sodium();
    if (size > 0) bytes_.reset(guarded(size));
}

void GuardedBytes::Release::operator()(std::uint8_t* bytes) const noexcept { sodium_free(bytes); }

SecretKey::SecretKey() {
    ensure_sodium();
    bytes_ = slot_pool().acquire();
}

SecretKey::SecretKey(SecretKey&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
    if (this != &other) {
        if (bytes_ != nullptr) slot_pool().release(bytes_);
        bytes_ = std::exchange(other.bytes_, nullptr);
    }
    return *this;
}

SecretKey::~SecretKey() {
    if (bytes_ != nullptr) slot_pool().release(bytes_);
}

SecretKey SecretKey::random() {
    SecretKey key;
    randombytes_buf(key.bytes_, size);
    return key;
}

SecretKey SecretKey::from_noise_seed(std::uint64_t noise_seed,
                                     std::string_view purpose,
                                     std::uint64_t index) {
    SecretKey key;
    crypto_generichash_state state;
    crypto_generichash_init(&state, nullptr, 0, size);
    absorb_integer(state, purpose.size());
    crypto_generichash_update(
        &state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
    absorb_integer(state, noise_seed);
    absorb_integer(state, index);
    crypto_generichash_final(&state, key.bytes_, size);
    sodium_memzero(&state, sizeof state);
    return key;
}

SecretKey SecretKey::from_bytes(std::span<const std::uint8_t> bytes) {
    if (bytes.size() != size)
        throw CryptoError(
            fmt::format("a secret key has {} bytes; it must have {}", bytes.size(), size));
    SecretKey key;
    std::memcpy(key.bytes_, bytes.data(), size);
    return key;
}

SecretKey SecretKey::clone() const { return from_bytes(bytes()); }

SecretKey SecretKey::derive(const char (&context)[9], std::uint64_t id) const {
    static_assert(crypto_kdf_CONTEXTBYTES == 8 && crypto_kdf_KEYBYTES == size);
    const auto master = bytes();
    SecretKey key;
    if (crypto_kdf_derive_from_key(key.bytes_, size, id, context, master.data()) != 0)
        throw CryptoError(fmt::format("cannot derive key {} of context \"{}\"", id, context));
    return key;
}

std::span<const std::uint8_t, SecretKey::size> SecretKey::bytes() const {
    if (bytes_ == nullptr) throw CryptoError("a secret key was used after it had been moved away");
    return std::span<const std::uint8_t, size>(bytes_, size);
}

bool SecretKey::operator==(const SecretKey& other) const {
    return sodium_memcmp(bytes().data(), other.bytes().data(), size) == 0;
}

SecretBytes::~SecretBytes() { sodium_memzero(bytes_.data(), bytes_.size()); }

SecretHash::SecretHash(std::string_view purpose, std::span<const std::uint8_t> key) {
    ensure_sodium();
    crypto_generichash_init(&state_, key.data(), key.size(), SecretKey::size);
    absorb({reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size()});
}

SecretHash::~SecretHash() { sodium_memzero(&state_, sizeof state_); }

void SecretHash::absorb(std::span<const std::uint8_t> bytes) {
    crypto_generichash_update(&state_, bytes.data(), bytes.size());
}

void SecretHash::absorb(int number) {
    std::array<std::uint8_t, 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(number) >> (8 * i));
    absorb(bytes);
}

SecretKey SecretHash::finish() {
    std::array<std::uint8_t, SecretKey::size> digest{};
    crypto_generichash_final(&state_, digest.data(), digest.size());
    SecretKey key = SecretKey::from_bytes(digest);
    sodium_memzero(digest.data(), digest.size());
    return key;
}

}  // namespace sotto
