#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sotto {

/// Initialises libsodium; may be called repeatedly.
/// @throws CryptoError if the library cannot start.
void ensure_sodium();

/// A 256-bit secret in libsodium's guarded memory: not in core dumps, wiped on release, and never
/// swapped where it could be locked (secret_keys_locked). Move-only; equality is constant-time.
class SecretKey {
  public:
    static constexpr std::size_t size = 32;

    /// From the operating system's generator.
    [[nodiscard]] static SecretKey random();
    /// BLAKE2b(noise_seed, purpose, index): reproducible, hence INSECURE; for experiments only.
    [[nodiscard]] static SecretKey from_noise_seed(std::uint64_t noise_seed,
                                                   std::string_view purpose,
                                                   std::uint64_t index);
    [[nodiscard]] static SecretKey from_bytes(std::span<const std::uint8_t> bytes);

    /// A moved-from key is empty; using it throws CryptoError.
    SecretKey(SecretKey&&) noexcept;
    SecretKey& operator=(SecretKey&&) noexcept;
    ~SecretKey();

    [[nodiscard]] SecretKey clone() const;
    /// crypto_kdf subkey, independent for every (context, id).
    /// @param context exactly 8 characters.
    [[nodiscard]] SecretKey derive(const char (&context)[9], std::uint64_t id) const;
    [[nodiscard]] std::span<const std::uint8_t, size> bytes() const;
    [[nodiscard]] bool operator==(const SecretKey& other) const;

  private:
    SecretKey();
    std::uint8_t* bytes_ = nullptr;
};

/// Secret bytes of any size, guarded like a key; each takes four memory mappings, of which Linux
/// allows a process 65 530. Begins at a multiple of 16 where the size is one.
class GuardedBytes {
  public:
    /// No memory for size 0.
    explicit GuardedBytes(std::size_t size);
    [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }

  private:
    struct Release {
        void operator()(std::uint8_t* bytes) const noexcept;
    };
    std::unique_ptr<std::uint8_t, Release> bytes_;
};

/// Whether all memory of secret keys so far could be locked, so that it is never swapped. False
/// where the limit (`ulimit -l`) is too small or used up by another process.
[[nodiscard]] bool secret_keys_locked();

/// Secret bytes in ordinary memory, wiped on destruction.
class SecretBytes {
  public:
    explicit SecretBytes(std::size_t size) : bytes_(size) {}
    SecretBytes(SecretBytes&&) = default;
    SecretBytes& operator=(SecretBytes&&) = delete;
    ~SecretBytes();
    [[nodiscard]] std::span<std::uint8_t> span() { return bytes_; }
    [[nodiscard]] std::span<const std::uint8_t> span() const { return bytes_; }

  private:
    std::vector<std::uint8_t> bytes_;
};

/// BLAKE2b-256(key; purpose, absorbed bytes). Leaves nothing on the stack.
class SecretHash {
  public:
    /// @param key up to 64 bytes; may be empty.
    SecretHash(std::string_view purpose, std::span<const std::uint8_t> key);
    SecretHash(const SecretHash&) = delete;
    SecretHash& operator=(const SecretHash&) = delete;
    ~SecretHash();

    void absorb(std::span<const std::uint8_t> bytes);
    /// Four bytes, little-endian.
    void absorb(int number);
    /// May be called once.
    [[nodiscard]] SecretKey finish();

  private:
    crypto_generichash_state state_;
};

}  // namespace sotto
