#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sotto {

/// ChaCha20 (RFC 8439) of zeros under one key and nonce, from one counter on. Where much is asked
/// for and this build has OpenSSL, its implementation makes it, else libsodium's: the bytes are the
/// same, OpenSSL's come two to three times as fast but begin some microseconds later.
class Keystream {
  public:
    static constexpr std::size_t key_bytes = 32, nonce_bytes = 12;

    /// @param key    must outlive this.
    /// @param count  in units of 64 bytes, where it begins.
    /// @param total  bytes that will be asked for, all calls together.
    Keystream(std::span<const std::uint8_t, key_bytes> key,
              std::span<const std::uint8_t, nonce_bytes> nonce,
              std::uint32_t count,
              std::size_t total);
    ~Keystream();
    Keystream(const Keystream&) = delete;
    Keystream& operator=(const Keystream&) = delete;

    /// The next bytes. @param out a multiple of 64 bytes, but for the last call.
    void next(std::span<std::uint8_t> out);

  private:
    struct Fast;
    std::span<const std::uint8_t, key_bytes> key_;
    std::span<const std::uint8_t, nonce_bytes> nonce_;
    std::uint32_t count_;
    std::unique_ptr<Fast> fast_;  // where OpenSSL makes it
};

}  // namespace sotto
