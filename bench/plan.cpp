// Time to solve a corn plan, and the same problem as an SDPA file for other solvers.
//
//   bench_plan solve AGENTS UTILITY REPETITIONS    seconds of every repetition, value, gap as JSON
//   bench_plan sdpa AGENTS UTILITY FORM            the problem as text; FORM: blocks, joint
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/stopwatch.hpp"
#include "design/spatial_solver.hpp"
#include "setup.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/design.hpp"
#include "sotto/design/mechanism.hpp"

namespace {

template <class Step>
double seconds_of(Step&& step) {
    const auto start = sotto::Clock::now();
    step();
    return sotto::seconds_since(start);
}

constexpr long rounds = 1000;           // only utilities that count all rounds depend on it
constexpr double enough_seconds = 120;  // no further repetition after this

const char* name_of(sotto::SpatialStatus status) {
    switch (status) {
        case sotto::SpatialStatus::optimal:
            return "optimal";
        case sotto::SpatialStatus::capped:
            return "capped";
        case sotto::SpatialStatus::rounding_limit:
            return "rounding_limit";
    }
    return "unknown";
}

void solve(int agents, const sotto::Utility& utility, int repetitions) {
    const sotto::Graph graph = sotto::bench::random_graph(agents);
    const auto mixing = sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis);
    sotto::DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.utility = utility;
    input.rounds = rounds;
    input.kappa = Eigen::VectorXd::Ones(agents);
    const sotto::Mechanism& corn = sotto::find_mechanism("mechanism", "corn");
    sotto::SpatialOptions options;
    options.relative_gap = 1e-6;

    nlohmann::ordered_json json{{"agents", agents}, {"utility", sotto::name_of(utility)}};
    sotto::SpatialSolution solution;
    const auto start = sotto::Clock::now();
    for (int i = 0; i < repetitions; ++i) {
        if (sotto::seconds_since(start) > enough_seconds) break;
        Eigen::MatrixXd matrix;
        json["utility_seconds"].push_back(
            seconds_of([&] { matrix = sotto::utility_matrix(mixing, utility, rounds); }));
        json["solve_seconds"].push_back(seconds_of(
            [&] { solution = sotto::solve_spatial_covariance(matrix, input.kappa, options); }));
        json["design_seconds"].push_back(seconds_of([&] { (void)corn.design(input).objective; }));
    }
    json["value"] = solution.value;
    json["relative_gap"] = solution.relative_gap();
    json["status"] = name_of(solution.status);
    json["iterations"] = solution.iterations;
    fmt::print("{}\n", json.dump());
}

/// min c.x  s.t.  sum_i x_i F_i - F_0 positive semidefinite, entry by entry.
class SdpaText {
  public:
    void entry(int matrix, int block, int row, int column, double value) {
        if (value != 0)
            entries_ += fmt::format("{} {} {} {} {:.17g}\n", matrix, block, row, column, value);
    }
    void print(std::span<const double> costs, std::span<const int> block_sizes) const {
        fmt::print("{}\n{}\n{}\n", costs.size(), block_sizes.size(), fmt::join(block_sizes, " "));
        fmt::print("{:.17g}\n{}", fmt::join(costs, " "), entries_);
    }

  private:
    std::string entries_;
};

/// One block per agent: [[R, e_u], [e_u^T, 1]] >= 0 says [R^-1]_uu <= 1.
void print_blocks(const Eigen::MatrixXd& utility) {
    const int n = static_cast<int>(utility.rows());
    SdpaText text;
    std::vector<double> costs;
    for (int i = 1; i <= n; ++i) {
        text.entry(0, i, i, n + 1, -1);
        text.entry(0, i, n + 1, n + 1, -1);
    }
    for (int i = 1; i <= n; ++i)
        for (int j = i; j <= n; ++j) {
            costs.push_back((i == j ? 1 : 2) * utility(i - 1, j - 1));
            for (int u = 1; u <= n; ++u) text.entry(static_cast<int>(costs.size()), u, i, j, 1);
        }
    text.print(costs, std::vector<int>(static_cast<std::size_t>(n), n + 1));
}

/// The dual in one block, P = [[M, B], [B^T, D]] >= 0 with D diagonal: min Tr D - 2 Tr B. The
/// value is minus that of the primal.
void print_joint(const Eigen::MatrixXd& utility) {
    const int n = static_cast<int>(utility.rows());
    SdpaText text;
    std::vector<double> costs;
    for (int i = 1; i <= n; ++i)
        for (int j = i; j <= n; ++j) text.entry(0, 1, i, j, -utility(i - 1, j - 1));
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) {
            costs.push_back(i == j ? -2 : 0);
            text.entry(static_cast<int>(costs.size()), 1, i, n + j, 1);
        }
    for (int i = 1; i <= n; ++i) {
        costs.push_back(1);
        text.entry(static_cast<int>(costs.size()), 1, n + i, n + i, 1);
    }
    const std::vector<int> sizes{2 * n};
    text.print(costs, sizes);
}

void print_sdpa(int agents, const sotto::Utility& utility, const std::string& form) {
    const sotto::Graph graph = sotto::bench::random_graph(agents);
    const Eigen::MatrixXd matrix = sotto::utility_matrix(
        sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis), utility, rounds);
    if (form == "blocks")
        print_blocks(matrix);
    else if (form == "joint")
        print_joint(matrix);
    else
        throw sotto::ConfigError(fmt::format("form '{}': allowed are blocks and joint", form));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() != 4 || (words[0] != "solve" && words[0] != "sdpa"))
            throw sotto::ConfigError(
                "usage: bench_plan solve AGENTS UTILITY REPETITIONS | sdpa AGENTS UTILITY FORM");
        const int agents = std::stoi(words[1]);
        const sotto::Utility utility = sotto::parse_utility("utility", words[2]);
        if (words[0] == "solve")
            solve(agents, utility, std::stoi(words[3]));
        else
            print_sdpa(agents, utility, words[3]);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_plan: {}\n", error.what());
        return 2;
    }
}
