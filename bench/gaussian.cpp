// Standard normals on one core, snapped to the grid, at every instruction-set level of this
// machine; beside the bare keystream and what people would use instead.
#include <benchmark/benchmark.h>
#include <sodium.h>
#ifdef SOTTO_HAVE_OPENSSL
#include <openssl/evp.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "noise/noise_source.hpp"
#include "noise/normal_stream.hpp"

namespace {

constexpr std::size_t values = 100'000;
constexpr double grid_step = 0x1p-24;

void count_values(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values) * 8);
}

void normal_stream(benchmark::State& state, const std::string& level) {
    sotto::force_simd_level(level);
    const sotto::NormalStream stream(sotto::SecretKey::from_noise_seed(1, "bench", 0));
    std::vector<double> out(values);
    std::uint64_t round = 0;
    constexpr std::size_t tile = 4096;  // snapped while in the first-level cache, as in training
    for (auto _ : state) {
        for (std::size_t at = 0; at < values; at += tile) {
            const std::span<double> part(out.data() + at, std::min(tile, values - at));
            stream.fill(0, round, at, part);
            sotto::round_to_grid(part, grid_step);
        }
        ++round;
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    sotto::force_simd_level("");
    count_values(state);
}

void transform_alone(benchmark::State& state) {
    constexpr std::size_t whole_blocks = values / sotto::normal_block * sotto::normal_block;
    std::vector<std::uint64_t> words(whole_blocks);
    std::mt19937_64 random(1);
    for (auto& word : words) word = random();
    std::vector<double> out(whole_blocks);
    for (auto _ : state) {
        benchmark::DoNotOptimize(sotto::normals_from_bits(words, out));
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(whole_blocks));
}

void sodium_chacha20(benchmark::State& state) {
    std::vector<unsigned char> out(8 * values);
    const std::array<unsigned char, 32> key{1};
    std::array<unsigned char, 12> nonce{};
    for (auto _ : state) {
        ++nonce[0];
        crypto_stream_chacha20_ietf(out.data(), out.size(), nonce.data(), key.data());
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    count_values(state);
}

void std_normal_distribution(benchmark::State& state) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<double> out(values);
    for (auto _ : state) {
        std::generate(out.begin(), out.end(), [&] { return normal(random); });
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    count_values(state);
}

#ifdef SOTTO_HAVE_OPENSSL
/// Keystream of an OpenSSL cipher: zeros, encrypted in place.
class OpensslKeystream {
  public:
    explicit OpensslKeystream(const EVP_CIPHER* cipher)
        : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
        const std::array<unsigned char, 32> key{1};
        EVP_EncryptInit_ex(context_.get(), cipher, nullptr, key.data(), nullptr);
    }
    /// As a stream of normals would use it: a new nonce for every vector.
    void start(std::uint64_t round) {
        std::array<unsigned char, 16> nonce{};
        for (std::size_t i = 0; i < 8; ++i) nonce[i] = static_cast<unsigned char>(round >> (8 * i));
        EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data());
    }
    void next(unsigned char* out, std::size_t size) {
        std::fill_n(out, size, static_cast<unsigned char>(0));
        int written = 0;
        EVP_EncryptUpdate(context_.get(), out, &written, out, static_cast<int>(size));
    }

  private:
    std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;
};

void openssl_keystream(benchmark::State& state, const EVP_CIPHER* cipher) {
    OpensslKeystream keystream(cipher);
    constexpr std::size_t piece = 4096;  // stays in the first-level cache, as a user would do it
    std::vector<unsigned char> out(8 * values);
    std::uint64_t round = 0;
    for (auto _ : state) {
        keystream.start(round++);
        for (std::size_t at = 0; at < out.size(); at += piece)
            keystream.next(out.data() + at, std::min(piece, out.size() - at));
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    count_values(state);
}

/// What NormalStream would reach with another keystream.
void openssl_normals(benchmark::State& state, const EVP_CIPHER* cipher) {
    OpensslKeystream keystream(cipher);
    constexpr std::size_t piece = 8 * sotto::normal_block;
    std::array<std::uint64_t, piece> words{};
    std::vector<double> out((values + piece - 1) / piece * piece);
    std::uint64_t round = 0;
    for (auto _ : state) {
        keystream.start(round++);
        for (std::size_t at = 0; at < out.size(); at += piece) {
            keystream.next(reinterpret_cast<unsigned char*>(words.data()), sizeof words);
            benchmark::DoNotOptimize(sotto::normals_from_bits(words, {out.data() + at, piece}));
            sotto::round_to_grid({out.data() + at, piece}, grid_step);
        }
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()) * 8);
}
#endif

}  // namespace

int main(int argc, char** argv) {
    sotto::ensure_sodium();
    for (const auto& level : sotto::simd_levels())
        benchmark::RegisterBenchmark(("sotto/" + level).c_str(), normal_stream, level);
    benchmark::RegisterBenchmark("sotto, transform alone", transform_alone);
    benchmark::RegisterBenchmark("libsodium ChaCha20 keystream", sodium_chacha20);
    benchmark::RegisterBenchmark("std::normal_distribution", std_normal_distribution);
#ifdef SOTTO_HAVE_OPENSSL
    benchmark::RegisterBenchmark("OpenSSL ChaCha20 keystream", openssl_keystream, EVP_chacha20());
    benchmark::RegisterBenchmark(
        "OpenSSL AES-256-CTR keystream", openssl_keystream, EVP_aes_256_ctr());
    benchmark::RegisterBenchmark(
        "sotto's transform on OpenSSL AES-256-CTR", openssl_normals, EVP_aes_256_ctr());
#endif
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
