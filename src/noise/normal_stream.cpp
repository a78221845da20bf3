#include "noise/normal_stream.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_OPENSSL
#include "trust/openssl_cipher.hpp"
#endif

namespace sotto {

namespace {

static_assert(Keystream::key_bytes == SecretKey::size);
static_assert(crypto_stream_xchacha20_KEYBYTES == SecretKey::size);

constexpr std::size_t bytes_per_block = normal_block * sizeof(std::uint64_t);
/// ChaCha20 counts units of 64 bytes.
constexpr std::uint32_t counts_per_block = bytes_per_block / 64;
/// The counter has 32 bits.
constexpr std::uint64_t max_coordinates =
    (std::uint64_t{1} << 32) / counts_per_block * normal_block;
/// Keystream generated at a time; it must stay in the first-level cache until it is transformed.
constexpr std::size_t blocks_per_piece = 8;

using Nonce = std::array<std::uint8_t, Keystream::nonce_bytes>;

Nonce make_nonce(std::uint32_t epoch, std::uint64_t round) {
    Nonce nonce{};
    for (std::size_t i = 0; i < 4; ++i) nonce[i] = static_cast<std::uint8_t>(epoch >> (8 * i));
    for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<std::uint8_t>(round >> (8 * i));
    return nonce;
}

/// Little-endian as make_nonce, then the block; the last bytes are zero.
using TailNonce = std::array<std::uint8_t, crypto_stream_xchacha20_NONCEBYTES>;

TailNonce make_tail_nonce(const Nonce& address, std::uint64_t block) {
    TailNonce nonce{};
    std::ranges::copy(address, nonce.begin());
    for (std::size_t i = 0; i < 8; ++i)
        nonce[address.size() + i] = static_cast<std::uint8_t>(block >> (8 * i));
    return nonce;
}

}  // namespace

NormalStream::NormalStream(SecretKey key) : key_(std::move(key)) { ensure_sodium(); }

void NormalStream::refine(const std::array<std::uint8_t, 12>& nonce,
                          std::uint64_t first_block,
                          std::span<const std::uint64_t> words,
                          std::span<double> out) const {
    // Made only when needed, for one pair in 2^32.
    const SecretKey tail_key = key_.derive("sottotal", 0);
    std::array<std::uint64_t, more_words_per_block> more;
    for (std::size_t at = 0; at < words.size(); at += normal_block) {
        const auto block = words.subspan(at, normal_block);
        if (std::ranges::none_of(block.first(normal_block / 2), in_tail)) continue;
        crypto_stream_xchacha20(reinterpret_cast<unsigned char*>(more.data()),
                                sizeof more,
                                make_tail_nonce(nonce, first_block + at / normal_block).data(),
                                tail_key.bytes().data());
        refine_tail(block, more, out.subspan(at, normal_block));
    }
}

void NormalStream::fill(std::uint32_t epoch,
                        std::uint64_t round,
                        std::uint64_t first,
                        std::span<double> out) const {
    if (first % normal_block != 0)
        throw Error(ExitCode::other,
                    fmt::format("first coordinate {} of a normal stream is not a multiple of {}",
                                first,
                                normal_block));
    if (first > max_coordinates || out.size() > max_coordinates - first)
        throw Error(ExitCode::other,
                    fmt::format("coordinates {} to {} + {} of a normal stream: one round has {}",
                                first,
                                first,
                                out.size(),
                                max_coordinates));
    const Nonce nonce = make_nonce(epoch, round);
    std::uint64_t block = first / normal_block;
    const std::size_t blocks_in_all = (out.size() + normal_block - 1) / normal_block;
    Keystream keystream_of_round(key_.bytes(),
                                 nonce,
                                 static_cast<std::uint32_t>(block * counts_per_block),
                                 blocks_in_all * bytes_per_block);
    alignas(64) std::array<std::uint64_t, blocks_per_piece * normal_block> words;
    while (!out.empty()) {
        const std::size_t blocks =
            std::min((out.size() + normal_block - 1) / normal_block, blocks_per_piece);
        keystream_of_round.next(
            {reinterpret_cast<std::uint8_t*>(words.data()), blocks * bytes_per_block});
        const std::size_t whole = std::min(out.size() / normal_block, blocks) * normal_block;
        const std::span<const std::uint64_t> keystream(words.data(), blocks * normal_block);
        if (normals_from_bits(keystream.first(whole), out.first(whole))) [[unlikely]]
            refine(nonce, block, keystream.first(whole), out.first(whole));
        out = out.subspan(whole);
        if (whole < keystream.size()) {
            alignas(64) std::array<double, normal_block> last;
            if (normals_from_bits(keystream.subspan(whole), last)) [[unlikely]]
                refine(nonce, block + whole / normal_block, keystream.subspan(whole), last);
            std::memcpy(out.data(), last.data(), out.size_bytes());
            out = {};
        }
        block += blocks;
    }
}

namespace {

static_assert(crypto_stream_chacha20_ietf_KEYBYTES == Keystream::key_bytes);
static_assert(crypto_stream_chacha20_ietf_NONCEBYTES == Keystream::nonce_bytes);

constexpr std::size_t bytes_per_count = 64;

#ifdef SOTTO_HAVE_OPENSSL
/// For less, OpenSSL's start-up costs more than it saves.
constexpr std::size_t least_for_openssl = 16384;

const EVP_CIPHER* openssl_chacha20() {
    static const OpensslCipher cipher = openssl_cipher("ChaCha20");
    return cipher.get();
}
#endif

}  // namespace

#ifdef SOTTO_HAVE_OPENSSL
struct Keystream::Fast {
    OpensslContext context = openssl_context();
};
#else
struct Keystream::Fast {};
#endif

Keystream::Keystream(std::span<const std::uint8_t, key_bytes> key,
                     std::span<const std::uint8_t, nonce_bytes> nonce,
                     std::uint32_t count,
                     [[maybe_unused]] std::size_t total)
    : key_(key), nonce_(nonce), count_(count) {
#ifdef SOTTO_HAVE_OPENSSL
    if (total < least_for_openssl || openssl_chacha20() == nullptr) return;
    auto fast = std::make_unique<Fast>();
    std::array<std::uint8_t, sizeof count + nonce_bytes> start{};
    for (std::size_t i = 0; i < sizeof count; ++i)
        start[i] = static_cast<std::uint8_t>(count >> (8 * i));
    std::ranges::copy(nonce, start.begin() + sizeof count);
    if (fast->context != nullptr &&
        EVP_EncryptInit_ex2(
            fast->context.get(), openssl_chacha20(), key.data(), start.data(), nullptr) == 1)
        fast_ = std::move(fast);
#endif
}

Keystream::~Keystream() = default;

void Keystream::next(std::span<std::uint8_t> out) {
    // The keystream is the ciphertext of zeros.
    std::ranges::fill(out, std::uint8_t{0});
#ifdef SOTTO_HAVE_OPENSSL
    if (fast_ != nullptr) {
        int written = 0;
        if (EVP_EncryptUpdate(fast_->context.get(),
                              out.data(),
                              &written,
                              out.data(),
                              static_cast<int>(out.size())) != 1 ||
            written != static_cast<int>(out.size()))
            throw Error(ExitCode::other, "OpenSSL made no keystream");
        return;
    }
#endif
    crypto_stream_chacha20_ietf_xor_ic(
        out.data(), out.data(), out.size(), nonce_.data(), count_, key_.data());
    count_ += static_cast<std::uint32_t>(out.size() / bytes_per_count);
}

}  // namespace sotto
