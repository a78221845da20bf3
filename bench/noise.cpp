// The noise of one round under corn: one agent alone, and all agents of one process.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "noise/noise_source.hpp"
#include "setup.hpp"
#include "sotto/design/mechanism.hpp"
#include "trust/seed_agreement.hpp"

namespace {

using sotto::KeyRing;
using sotto::NoisePlan;
using sotto::NoiseSource;

constexpr std::uint64_t noise_seed = 1;

/// The corn plan of this many agents, solved when first asked for.
const NoisePlan& corn_plan(int agents) {
    static std::map<int, NoisePlan> plans;
    if (!plans.contains(agents)) {
        const sotto::Graph graph = sotto::bench::random_graph(agents);
        const auto mixing = sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis);
        sotto::DesignInput input;
        input.graph = &graph;
        input.mixing = &mixing;
        input.utility = {sotto::Utility::Kind::horizon, 200};
        input.rounds = 1000;
        input.kappa = Eigen::VectorXd::Ones(agents);
        plans.emplace(agents, sotto::find_mechanism("mechanism", "corn").design(input).plan);
    }
    return plans.at(agents);
}

KeyRing key_ring(const NoisePlan& plan, int agent) {
    return std::move(reproducible_rings(plan, {&agent, 1}, noise_seed).front());
}

/// Streams every agent draws a round.
std::vector<std::size_t> streams_of_agents(const NoisePlan& plan) {
    std::vector<std::size_t> streams(static_cast<std::size_t>(plan.agents));
    for (const auto& row : plan.rows)
        streams[static_cast<std::size_t>(row.sender)] += row.streams.size();
    return streams;
}

int worst_agent(const NoisePlan& plan) {
    const auto streams = streams_of_agents(plan);
    return static_cast<int>(std::ranges::max_element(streams) - streams.begin());
}

/// The agent whose number of streams is nearest to the average.
int average_agent(const NoisePlan& plan) {
    const auto streams = streams_of_agents(plan);
    double sum = 0;
    for (const std::size_t count : streams) sum += static_cast<double>(count);
    const double average = sum / static_cast<double>(streams.size());
    const auto distance = [&](std::size_t count) {
        return std::abs(static_cast<double>(count) - average);
    };
    return static_cast<int>(std::ranges::min_element(streams, {}, distance) - streams.begin());
}

void run_rounds(benchmark::State& state, NoiseSource source, Eigen::Index dimension, long agents) {
    Eigen::MatrixXd noise(dimension, agents);
    std::uint64_t round = 0;
    for (auto _ : state) {
        source.draw(0, round++, noise);
        benchmark::DoNotOptimize(noise.data());
        benchmark::ClobberMemory();
    }
    state.counters["streams"] = source.streams();
}

void one_agent(benchmark::State& state, int agents, long dimension, bool worst) {
    const NoisePlan& plan = corn_plan(agents);
    std::vector<KeyRing> rings;
    rings.push_back(key_ring(plan, worst ? worst_agent(plan) : average_agent(plan)));
    run_rounds(state, NoiseSource(plan, rings, 1), dimension, 1);
}

void all_agents(benchmark::State& state, int agents, long dimension, int threads) {
    const NoisePlan& plan = corn_plan(agents);
    std::vector<KeyRing> rings;
    for (int u = 0; u < agents; ++u) rings.push_back(key_ring(plan, u));
    run_rounds(state, NoiseSource(plan, rings, threads), dimension, agents);
}

}  // namespace

int main(int argc, char** argv) {
    const bool quick = sotto::bench::quick();
    const std::vector<int> sizes = quick ? std::vector{20, 100} : std::vector{20, 100, 1000};
    const std::vector<long> dimensions = quick ? std::vector{1000L} : std::vector{1000L, 100'000L};
    constexpr int threads = 2;
    for (const int n : sizes)
        for (const long d : dimensions) {
            const std::string size = "/n=" + std::to_string(n) + "/d=" + std::to_string(d);
            const auto add = [&](const std::string& name, auto... arguments) {
                benchmark::RegisterBenchmark((name + size).c_str(), arguments...)
                    ->UseRealTime()
                    ->Unit(benchmark::kMillisecond);
            };
            add("average agent", one_agent, n, d, false);
            add("worst agent", one_agent, n, d, true);
            add("all agents", all_agents, n, d, threads);
        }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
