// Mixing alone: weighted_sum of k columns, beside a plain read of the same bytes.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/weighted_sum.hpp"
#include "setup.hpp"

namespace {

constexpr Eigen::Index columns = 10;

Eigen::Index dimension() { return sotto::bench::quick() ? 100'000 : 1'000'000; }

/// The machine's read limit: every word is loaded once and folded into one number.
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3"))) std::uint64_t fold(
    const std::uint64_t* words, std::size_t count) {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < count; ++i) result ^= words[i];
    return result;
}

void count_bytes(benchmark::State& state) {
    state.SetBytesProcessed(state.iterations() * columns * dimension() * 8);
}

void plain_read(benchmark::State& state) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(columns * dimension()), 1);
    for (auto _ : state) benchmark::DoNotOptimize(fold(words.data(), words.size()));
    count_bytes(state);
}

void sotto_mixing(benchmark::State& state) {
    const Eigen::MatrixXd received = Eigen::MatrixXd::Ones(dimension(), columns);
    const std::vector<double> weights(columns, 1.0 / static_cast<double>(columns));
    std::vector<const double*> pointers;
    for (Eigen::Index j = 0; j < columns; ++j) pointers.push_back(received.col(j).data());
    std::vector<double> mixed(static_cast<std::size_t>(dimension()));
    for (auto _ : state) {
        sotto::weighted_sum(pointers, weights, mixed);
        benchmark::DoNotOptimize(mixed.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void eigen_product(benchmark::State& state) {
    const Eigen::MatrixXd received = Eigen::MatrixXd::Ones(dimension(), columns);
    const Eigen::VectorXd weights =
        Eigen::VectorXd::Constant(columns, 1.0 / static_cast<double>(columns));
    Eigen::VectorXd mixed(dimension());
    for (auto _ : state) {
        mixed.noalias() = received * weights;
        benchmark::DoNotOptimize(mixed.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

/// What a first version usually looks like: coordinate by coordinate, over all neighbours.
void naive_loop(benchmark::State& state) {
    const Eigen::MatrixXd received = Eigen::MatrixXd::Ones(dimension(), columns);
    const std::vector<double> weights(columns, 1.0 / static_cast<double>(columns));
    std::vector<double> mixed(static_cast<std::size_t>(dimension()));
    for (auto _ : state) {
        for (Eigen::Index i = 0; i < dimension(); ++i) {
            double sum = 0;
            for (Eigen::Index j = 0; j < columns; ++j)
                sum += weights[static_cast<std::size_t>(j)] * received(i, j);
            mixed[static_cast<std::size_t>(i)] = sum;
        }
        benchmark::DoNotOptimize(mixed.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

BENCHMARK(plain_read);
BENCHMARK(sotto_mixing);
BENCHMARK(eigen_product);
BENCHMARK(naive_loop);

}  // namespace

BENCHMARK_MAIN();
