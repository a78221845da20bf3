// Gradients of one batch: the plain mean, and the sum of records clipped one by one.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/seeded_random.hpp"
#include "learn/layered_objective.hpp"
#include "learn/layers.hpp"
#include "setup.hpp"

namespace {

constexpr Eigen::Index batch = 128;

/// Grey images of 28 x 28 pixels, of ten classes.
sotto::Dataset random_images() {
    sotto::SeededRandom random(1, "bench-images");
    sotto::Dataset data;
    sotto::PixelRows pixels(batch, 784);
    for (std::uint8_t& pixel : pixels.reshaped())
        pixel = static_cast<std::uint8_t>(random.below(256));
    data.dense = pixels;
    data.image_rows = 28;
    data.labels.resize(batch);
    for (double& label : data.labels) label = static_cast<double>(random.below(10));
    data.source = "random images";
    return data;
}

sotto::Layers layers_of(const std::string& model) {
    if (model == "softmax") return sotto::softmax_layers(784, 10);
    if (model == "cnn") return sotto::cnn_layers({28, 28, 1}, 10);
    return sotto::mlp_layers(784, 128, 10);
}

struct Work {
    explicit Work(const std::string& model)
        : objective(sotto::make_layered_objective(layers_of(model), random_images(), nullptr)),
          point(sotto::initial_parameters(layers_of(model), 1)),
          gradient(point.size()) {
        for (Eigen::Index i = 0; i < batch; ++i) rows.push_back(i);
    }
    std::unique_ptr<sotto::Objective> objective;
    Eigen::VectorXd point, gradient;
    std::vector<Eigen::Index> rows;
};

void plain(benchmark::State& state, const std::string& model) {
    Work work(model);
    for (auto _ : state) {
        work.objective->mean_gradient(work.point, work.rows, work.gradient);
        benchmark::DoNotOptimize(work.gradient.data());
    }
}

void clipped(benchmark::State& state, const std::string& model) {
    Work work(model);
    for (auto _ : state) {
        work.objective->clipped_gradient_sum(work.point, work.rows, 1, 0x1p-30, work.gradient);
        benchmark::DoNotOptimize(work.gradient.data());
    }
}

/// What clipping costs without ghost norms: every record's own gradient, one after the other.
void record_by_record(benchmark::State& state, const std::string& model) {
    Work work(model);
    Eigen::VectorXd sum(work.point.size());
    for (auto _ : state) {
        sum.setZero();
        for (const Eigen::Index row : work.rows) {
            work.objective->mean_gradient(work.point, {&row, 1}, work.gradient);
            sum += work.gradient * std::min(1.0, 1 / work.gradient.norm());
        }
        benchmark::DoNotOptimize(sum.data());
    }
}

}  // namespace

int main(int count, char** words) {
    sotto::set_linear_algebra_threads(1);
    for (const std::string model : {"softmax", "mlp", "cnn"}) {
        benchmark::RegisterBenchmark((model + "/plain").c_str(), plain, model);
        benchmark::RegisterBenchmark((model + "/clipped").c_str(), clipped, model);
        benchmark::RegisterBenchmark(
            (model + "/record by record").c_str(), record_by_record, model);
    }
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
}
