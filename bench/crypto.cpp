// Encrypted links and secure sums on one core, beside bare libsodium on the same bytes.
#include <benchmark/benchmark.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sums/secure_sum.hpp"
#include "trust/link_cipher.hpp"
#include "trust/pair_secrets.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t chunk_bytes = 16384 * 8;  // as MpiNetwork sends
constexpr std::size_t tag = sotto::LinkCipher::tag_size;

std::vector<sotto::PairSecrets> secrets_of(int agents) {
    sotto::ensure_sodium();
    std::vector<sotto::PublicKey> keys(static_cast<std::size_t>(agents));
    const auto secret = [](int agent) {
        return sotto::SecretKey::from_noise_seed(1, "bench", static_cast<std::uint64_t>(agent));
    };
    for (int u = 0; u < agents; ++u)
        crypto_scalarmult_base(keys[static_cast<std::size_t>(u)].data(), secret(u).bytes().data());
    std::vector<sotto::PairSecrets> all;
    for (int u = 0; u < agents; ++u) all.emplace_back(u, sotto::Digest{}, secret(u), keys);
    return all;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
    state.counters["bytes"] = static_cast<double>(bytes);
}

/// One message sealed by its sender and opened by its receiver, chunk by chunk.
void link(benchmark::State& state, std::size_t dimension, sotto::AeadCipher cipher) {
    auto secrets = secrets_of(2);
    sotto::LinkCipher sender(secrets[0], 1, 0, sotto::LinkUse::exchange, cipher);
    const sotto::LinkCipher receiver(secrets[1], 0, 0, sotto::LinkUse::exchange, cipher);
    const Bytes message(dimension * 8, 7);
    Bytes wire(chunk_bytes + tag);
    std::int64_t round = 0;
    for (auto _ : state) {
        for (std::size_t at = 0, chunk = 0; at < message.size(); at += chunk_bytes, ++chunk) {
            const std::size_t size = std::min(chunk_bytes, message.size() - at);
            const std::span<std::uint8_t> sealed(wire.data(), size + tag);
            const sotto::ChunkAddress address{round, 0, static_cast<std::int64_t>(chunk)};
            sender.seal(address, std::span(message).subspan(at, size), sealed);
            receiver.open(address, sealed, sealed.first(size));
            benchmark::DoNotOptimize(wire.data());
        }
        ++round;
        benchmark::ClobberMemory();
    }
    count_bytes(state, 2 * message.size());
}

/// The same bytes through libsodium's combined calls.
void link_raw(benchmark::State& state, std::size_t dimension, sotto::AeadCipher cipher) {
    const bool aes = cipher == sotto::AeadCipher::aes256_gcm;
    const auto encrypt =
        aes ? crypto_aead_aes256gcm_encrypt : crypto_aead_chacha20poly1305_ietf_encrypt;
    const auto decrypt =
        aes ? crypto_aead_aes256gcm_decrypt : crypto_aead_chacha20poly1305_ietf_decrypt;
    const Bytes message(dimension * 8, 7);
    Bytes wire(chunk_bytes + tag);
    const std::array<std::uint8_t, 32> key{1};
    std::array<std::uint8_t, 12> nonce{};
    for (auto _ : state) {
        for (std::size_t at = 0; at < message.size(); at += chunk_bytes) {
            const std::size_t size = std::min(chunk_bytes, message.size() - at);
            ++nonce[0];
            encrypt(wire.data(),
                    nullptr,
                    message.data() + at,
                    size,
                    nullptr,
                    0,
                    nullptr,
                    nonce.data(),
                    key.data());
            if (decrypt(wire.data(),
                        nullptr,
                        nullptr,
                        wire.data(),
                        size + tag,
                        nullptr,
                        0,
                        nonce.data(),
                        key.data()) != 0)
                state.SkipWithError("it did not open");
            benchmark::DoNotOptimize(wire.data());
        }
        benchmark::ClobberMemory();
    }
    count_bytes(state, 2 * message.size());
}

/// One share: a message weighed, rounded and masked for a receiver with this many neighbours.
void share(benchmark::State& state, std::size_t dimension, int neighbours) {
    std::vector<sotto::Edge> edges;
    for (int v = 1; v <= neighbours; ++v) edges.emplace_back(0, v);
    const sotto::Graph star = sotto::Graph::from_edges(neighbours + 1, edges);
    auto secrets = secrets_of(neighbours + 1);
    sotto::SecureSum sum(star, secrets[1], 0, 16);
    const std::vector<double> message(dimension, 0.125);
    const std::array<double, 1> weight{0.1};
    std::vector<std::uint64_t> words(chunk_bytes / 8);
    std::int64_t round = 0;
    for (auto _ : state) {
        sum.begin(round++, 0, message, weight);
        for (std::size_t at = 0; at < dimension; at += words.size()) {
            const std::span<std::uint64_t> piece(words.data(),
                                                 std::min(words.size(), dimension - at));
            sum.share(0, static_cast<std::int64_t>(at), piece);
            benchmark::DoNotOptimize(words.data());
        }
        benchmark::ClobberMemory();
    }
    count_bytes(state, dimension * 8 * static_cast<std::size_t>(sum.masks()));
}

/// As many bytes of bare keystream.
void share_raw(benchmark::State& state, std::size_t dimension, int masks) {
    Bytes keystream(std::min(chunk_bytes, dimension * 8));
    const std::array<std::uint8_t, 32> key{1};
    std::array<std::uint8_t, 12> nonce{};
    for (auto _ : state)
        for (int mask = 0; mask < masks; ++mask)
            for (std::size_t at = 0; at < dimension * 8; at += chunk_bytes) {
                ++nonce[0];
                crypto_stream_chacha20_ietf(keystream.data(),
                                            std::min(chunk_bytes, dimension * 8 - at),
                                            nonce.data(),
                                            key.data());
                benchmark::DoNotOptimize(keystream.data());
                benchmark::ClobberMemory();
            }
    count_bytes(state, dimension * 8 * static_cast<std::size_t>(masks));
}

}  // namespace

int main(int argc, char** argv) {
    sotto::ensure_sodium();
    for (const std::size_t dimension : {124UL, 1000UL, 100'000UL, 1'000'000UL}) {
        const std::string d = std::to_string(dimension);
        for (const auto& [name, cipher] :
             {std::pair<std::string, sotto::AeadCipher>{"aes link", sotto::AeadCipher::aes256_gcm},
              {"link", sotto::AeadCipher::chacha20_poly1305}}) {
            if (cipher == sotto::AeadCipher::aes256_gcm && !sotto::has_aes256_gcm()) continue;
            benchmark::RegisterBenchmark((name + " " + d).c_str(), [=](benchmark::State& state) {
                link(state, dimension, cipher);
            });
            benchmark::RegisterBenchmark(
                (name + " " + d + " raw").c_str(),
                [=](benchmark::State& state) { link_raw(state, dimension, cipher); });
        }
        for (const int neighbours : {3, 10, 33}) {
            const std::string name = "sum " + d + " of " + std::to_string(neighbours);
            benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
                share(state, dimension, neighbours);
            });
            benchmark::RegisterBenchmark((name + " raw").c_str(), [=](benchmark::State& state) {
                share_raw(state, dimension, neighbours - 1);
            });
        }
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
