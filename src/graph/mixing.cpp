#include "sotto/graph/mixing.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/files.hpp"
#include "core/linear_algebra.hpp"
#include "core/text_input.hpp"
#include "graph/edge_list.hpp"
#include "graph/spectrum.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/sparse_rows.hpp"

namespace sotto {

namespace {

constexpr double symmetry_tolerance = 1e-12;
/// Tolerance of sums of weights.
constexpr double row_sum_tolerance = 1e-9;

/// Sparse matrix with an entry for every member of every closed neighbourhood; calls value(u, v)
/// row by row, in ascending order of v.
template <class Value>
SparseRows fill(const Graph& graph, Value&& value) {
    const int n = graph.agents();
    SparseRows sparse(n, n);
    Eigen::VectorXi sizes(n);
    for (int u = 0; u < n; ++u) sizes[u] = graph.degree(u) + 1;
    sparse.reserve(sizes);
    for (int u = 0; u < n; ++u)
        for (const int v : graph.closed_neighbourhood(u)) sparse.insert(u, v) = value(u, v);
    sparse.makeCompressed();
    return sparse;
}

/// Symmetric weights between agents; the self weight completes each row to 1.
template <class Value>
SparseRows fill_symmetric(const Graph& graph, Value&& between) {
    return fill(graph, [&](int u, int v) {
        if (u != v) return between(u, v);
        double given_away = 0;
        for (const int w : graph.neighbours(u)) given_away += between(u, w);
        return 1 - given_away;
    });
}

SparseRows metropolis(const Graph& graph) {
    return fill_symmetric(graph, [&](int u, int v) {
        return 1.0 / (1 + std::max(graph.degree(u), graph.degree(v)));
    });
}

SparseRows max_degree(const Graph& graph) {
    int most = 0;
    for (int u = 0; u < graph.agents(); ++u) most = std::max(most, graph.degree(u));
    return fill_symmetric(graph, [most](int, int) { return 1.0 / (most + 1); });
}

SparseRows lazy_metropolis(const Graph& graph) {
    SparseRows sparse = metropolis(graph);
    for (int u = 0; u < graph.agents(); ++u)
        for (SparseRows::InnerIterator entry(sparse, u); entry; ++entry)
            entry.valueRef() = (entry.value() + (entry.col() == u ? 1.0 : 0.0)) / 2;
    return sparse;
}

SparseRows row_stochastic(const Graph& graph) {
    return fill(graph, [&](int u, int v) {
        const auto heard = static_cast<double>(graph.heard(u).size());
        return u == v || graph.hears(u, v) ? 1 / (1 + heard) : 0.0;
    });
}

SparseRows shares_of_hearers(const Graph& graph) {
    return fill(graph, [&](int v, int u) {
        const auto hearers = static_cast<double>(graph.hearers(u).size());
        return u == v || graph.hears(v, u) ? 1 / (1 + hearers) : 0.0;
    });
}

/// Only the row_stochastic and push_sum rules work on directed graphs.
void require_undirected(const Graph& graph, MixingRule rule) {
    if (!graph.directed() || rule == MixingRule::row_stochastic || rule == MixingRule::push_sum)
        return;
    throw ConfigError(
        "mixing: this rule needs an undirected graph (allowed with --directed: push-sum, "
        "row-stochastic, FILE)");
}

SparseRows uniform(const Graph& graph) {
    const long long n = graph.agents();
    const auto edges = static_cast<long long>(graph.edges().size());
    if (edges != n * (n - 1) / 2)
        throw ConfigError(
            fmt::format("mixing uniform needs a complete graph, and this one has {} of {} edges; "
                        "use --mixing metropolis",
                        edges,
                        n * (n - 1) / 2));
    return fill(graph, [n](int, int) { return 1.0 / static_cast<double>(n); });
}

bool is_symmetric(const SparseRows& sparse) {
    const SparseRows transposed = sparse.transpose();
    for (int u = 0; u < sparse.rows(); ++u) {
        SparseRows::InnerIterator there(sparse, u);
        SparseRows::InnerIterator back(transposed, u);
        // The closed neighbourhoods of an undirected graph make the pattern symmetric.
        for (; there && back; ++there, ++back)
            if (there.col() != back.col() ||
                !(std::abs(there.value() - back.value()) <= symmetry_tolerance))
                return false;
        if (there || back) return false;
    }
    return true;
}

bool columns_sum_to_one(const SparseRows& sparse) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(sparse.cols());
    for (int u = 0; u < sparse.rows(); ++u)
        for (SparseRows::InnerIterator entry(sparse, u); entry; ++entry)
            sums[entry.col()] += entry.value();
    return ((sums.array() - 1).abs() <= row_sum_tolerance).all();
}

/// Agents above which eigenvalues are found by iterations.
constexpr int most_with_all_eigenvalues = 1500;

/// Largest modulus of the eigenvalues of W - 11^T/n: those of W, with one eigenvalue 1 replaced by
/// 0. Cost: O(n^3) up to most_with_all_eigenvalues agents.
double modulus_off_the_mean(const MixingMatrix& mixing) {
    if (mixing.agents() > most_with_all_eigenvalues) return second_eigenvalue_modulus(mixing);
    const Eigen::MatrixXd dense = mixing.dense();
    const Eigen::MatrixXd deflated =
        (dense.array() - 1.0 / static_cast<double>(dense.rows())).matrix();
    if (dense == dense.transpose()) return symmetric_eigenvalues(deflated).cwiseAbs().maxCoeff();
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(deflated, false);
    return solver.info() == Eigen::Success ? solver.eigenvalues().cwiseAbs().maxCoeff()
                                           : std::nan("");
}

void check_entry(const Graph& graph, int u, int v, double weight, const std::string& name) {
    const auto reject = [&](const char* rule) {
        return DataError(fmt::format(
            "{}: entry ({}, {}) is {} (agents are numbered from 0); {}", name, u, v, weight, rule));
    };
    if (!std::isfinite(weight)) throw reject("weights must be finite");
    if (weight != 0 && u != v && !graph.hears(u, v))
        throw reject("the graph has no edge there, so it must be 0");
}

/// @throws DataError for another size, and the first entry that is not allowed, also where the
/// graph has no edge.
void check_dense(const Graph& graph, const Eigen::MatrixXd& dense, const std::string& name) {
    const int n = graph.agents();
    if (dense.rows() != n || dense.cols() != n)
        throw DataError(fmt::format("{}: {} x {}, but the graph has {} agents; it must be {} x {}",
                                    name,
                                    dense.rows(),
                                    dense.cols(),
                                    n,
                                    n,
                                    n));
    for (int u = 0; u < n; ++u)
        for (int v = 0; v < n; ++v) check_entry(graph, u, v, dense(u, v), name);
}

/// @param what "row" or "column".
void check_sums(const Eigen::VectorXd& sums, const char* what, const std::string& name) {
    for (Eigen::Index i = 0; i < sums.size(); ++i)
        if (!(std::abs(sums[i] - 1) <= row_sum_tolerance))
            throw DataError(
                fmt::format("{}: {} {} sums to {:.12g} (agents are numbered from 0); "
                            "every {} must sum to 1 within {}",
                            name,
                            what,
                            i,
                            sums[i],
                            what,
                            row_sum_tolerance));
}

/// Checks that rows (push_sum: columns) sum to 1. Negative entries are refused with push_sum;
/// otherwise all eigenvalues other than the mean's must have modulus at most 1 (within
/// row_sum_tolerance), which always holds without negative entries.
/// @throws DataError beginning with `name`.
void check_mixing(const MixingMatrix& mixing, const std::string& name) {
    const SparseRows& weights = mixing.sparse();
    const bool push_sum = mixing.push_sum();
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(mixing.agents());
    if (push_sum)
        check_sums(weights.transpose() * ones, "column", name);
    else
        check_sums(weights * ones, "row", name);
    if (!(weights.coeffs().minCoeff() < 0)) return;
    if (push_sum)
        throw DataError(
            fmt::format("{}: it has negative entries, which push-sum cannot have", name));
    const double modulus = modulus_off_the_mean(mixing);
    if (!(modulus <= 1 + row_sum_tolerance))
        throw DataError(fmt::format(
            "{}: it has negative entries, and an eigenvalue other than that of the mean has "
            "modulus {:.12g}; it must be at most 1, or differences between agents grow",
            name,
            modulus));
}

}  // namespace

MixingMatrix::MixingMatrix(SparseRows sparse, MixingKind kind)
    : sparse_(std::move(sparse)),
      kind_(kind),
      symmetric_(is_symmetric(sparse_)),
      doubly_stochastic_(columns_sum_to_one(sparse_) && columns_sum_to_one(sparse_.transpose())) {}

MixingMatrix MixingMatrix::from_rule(const Graph& graph, MixingRule rule) {
    require_undirected(graph, rule);
    switch (rule) {
        case MixingRule::metropolis:
            return MixingMatrix(metropolis(graph));
        case MixingRule::max_degree:
            return MixingMatrix(max_degree(graph));
        case MixingRule::lazy_metropolis:
            return MixingMatrix(lazy_metropolis(graph));
        case MixingRule::row_stochastic:
            return MixingMatrix(row_stochastic(graph));
        case MixingRule::push_sum:
            return MixingMatrix(shares_of_hearers(graph), MixingKind::push_sum);
        case MixingRule::uniform:
            return MixingMatrix(uniform(graph));
    }
    throw Error(ExitCode::other, "mixing: unknown rule");
}

MixingMatrix MixingMatrix::from_dense(const Graph& graph,
                                      const Eigen::MatrixXd& dense,
                                      MixingKind kind,
                                      const std::string& name) {
    check_dense(graph, dense, name);
    return from_weights(
        graph, [&](int u, int v) { return dense(u, v); }, kind, name);
}

MixingMatrix MixingMatrix::from_weights(const Graph& graph,
                                        const std::function<double(int u, int v)>& weight,
                                        MixingKind kind,
                                        const std::string& name) {
    MixingMatrix mixing(fill(graph,
                             [&](int u, int v) {
                                 const double value = weight(u, v);
                                 check_entry(graph, u, v, value, name);
                                 return value;
                             }),
                        kind);
    check_mixing(mixing, name);
    return mixing;
}

MixingMatrix MixingMatrix::damped(double share) const {
    SparseRows rows = sparse_;
    for (int u = 0; u < agents(); ++u)
        for (SparseRows::InnerIterator entry(rows, u); entry; ++entry)
            entry.valueRef() = share * entry.value() + (entry.col() == u ? 1 - share : 0);
    return MixingMatrix(std::move(rows), kind_);
}

MixingMatrix MixingMatrix::average(int agents) {
    if (agents < 1)
        throw ConfigError(fmt::format("agents: {} given; averaging needs at least 1", agents));
    return MixingMatrix(
        SparseRows(Eigen::MatrixXd::Constant(agents, agents, 1.0 / agents).sparseView()));
}

std::span<const int> MixingMatrix::members(int u) const {
    const int begin = sparse_.outerIndexPtr()[u];
    const int end = sparse_.outerIndexPtr()[u + 1];
    return {sparse_.innerIndexPtr() + begin, static_cast<std::size_t>(end - begin)};
}

std::span<const double> MixingMatrix::weights(int u) const {
    const int begin = sparse_.outerIndexPtr()[u];
    const int end = sparse_.outerIndexPtr()[u + 1];
    return {sparse_.valuePtr() + begin, static_cast<std::size_t>(end - begin)};
}

Digest MixingMatrix::hash() const {
    Hasher hasher(push_sum() ? "sotto.mixing.push-sum.v1" : "sotto.mixing.v1");
    hasher.add(std::int64_t{agents()});
    for (int u = 0; u < agents(); ++u) {
        hasher.add(static_cast<std::int64_t>(members(u).size()));
        for (const int v : members(u)) hasher.add(std::int64_t{v});
        hasher.add(weights(u));
    }
    return hasher.finish();
}

MixingSchedule::MixingSchedule(std::vector<MixingMatrix> matrices)
    : matrices_(std::move(matrices)) {
    if (matrices_.empty()) throw ConfigError("mixing schedule: empty; give at least one matrix");
    const MixingMatrix& first = matrices_.front();
    for (std::size_t t = 1; t < matrices_.size(); ++t) {
        if (matrices_[t].agents() != first.agents())
            throw ConfigError(
                fmt::format("mixing schedule: matrix {} has {} agents, matrix 0 has "
                            "{}; all must have the same",
                            t,
                            matrices_[t].agents(),
                            first.agents()));
        if (matrices_[t].kind() != first.kind())
            throw ConfigError(fmt::format(
                "mixing schedule: push-sum in some rounds, and not in others (matrix {})", t));
        for (int u = 0; u < first.agents(); ++u)
            if (!std::ranges::equal(matrices_[t].members(u), first.members(u)))
                throw ConfigError(
                    fmt::format("mixing schedule: agent {} has other neighbours in "
                                "matrix {} than in matrix 0; make all on the union "
                                "graph, with weight 0 where an edge rests",
                                u,
                                t));
    }
}

MixingSchedule MixingSchedule::from(long round) const {
    MixingSchedule later = *this;
    auto& matrices = later.matrices_;
    std::rotate(matrices.begin(), matrices.begin() + round % period(), matrices.end());
    return later;
}

const MixingMatrix& MixingSchedule::at(long round) const {
    return matrices_[static_cast<std::size_t>(round) % matrices_.size()];
}

Digest MixingSchedule::hash() const {
    Hasher hasher("sotto.mixing-schedule.v1");
    hasher.add(static_cast<std::int64_t>(matrices_.size()));
    for (const MixingMatrix& matrix : matrices_) hasher.add_bytes(matrix.hash());
    return hasher.finish();
}

namespace {

constexpr NameTable<MixingRule, 6> rule_table{{{
    {MixingRule::metropolis, "metropolis"},
    {MixingRule::max_degree, "max-degree"},
    {MixingRule::lazy_metropolis, "lazy-metropolis"},
    {MixingRule::row_stochastic, "row-stochastic"},
    {MixingRule::push_sum, "push-sum"},
    {MixingRule::uniform, "uniform"},
}}};

bool is_npy(const std::string& path) {
    if (path.ends_with(".npy")) return true;
    constexpr std::string_view magic = "\x93NUMPY";
    std::string start(magic.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    return file && start == magic;
}

Eigen::MatrixXd read_text_matrix(const std::string& path, int agents, const std::string& name) {
    Eigen::MatrixXd matrix(agents, agents);
    int row = 0;
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        std::string_view rest = line;
        std::string_view token = take_token(rest);
        if (token.empty()) continue;
        if (row == agents)
            throw DataError(
                fmt::format("{}: line {} starts row {}, but the graph has {} agents; "
                            "it must hold {} rows",
                            name,
                            reader.line_number(),
                            row + 1,
                            agents,
                            agents));
        int column = 0;
        for (; !token.empty(); token = take_token(rest), ++column) {
            double value = 0;
            const char* last = token.data() + token.size();
            const auto [end, error] = std::from_chars(token.data(), last, value);
            if (error != std::errc() || end != last)
                throw DataError(fmt::format("{}: line {}, entry ({}, {}): \"{}\" is not a number",
                                            name,
                                            reader.line_number(),
                                            row,
                                            column,
                                            for_message(token)));
            if (column < agents) matrix(row, column) = value;
        }
        if (column != agents)
            throw DataError(
                fmt::format("{}: line {} (row {}) holds {} numbers, but the graph has "
                            "{} agents; give one number for each",
                            name,
                            reader.line_number(),
                            row,
                            column,
                            agents));
        ++row;
    }
    if (row != agents)
        throw DataError(fmt::format(
            "{}: {} rows, but the graph has {} agents; give one row for each", name, row, agents));
    return matrix;
}

}  // namespace

std::vector<std::string> mixing_names() { return rule_table.names(); }

MixingMatrix make_mixing(const Graph& graph, const std::string& rule_or_file) {
    for (const auto& [rule, name] : rule_table.entries)
        if (name == rule_or_file) return MixingMatrix::from_rule(graph, rule);

    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(rule_or_file, ignored);
    if (!std::filesystem::exists(status)) {
        const ConfigError unknown = unknown_name_error("mixing", rule_or_file, mixing_names());
        throw ConfigError(fmt::format("{} (and there is no such file)", unknown.what()));
    }
    const std::string name = "mixing file " + rule_or_file;
    if (!std::filesystem::is_regular_file(status))
        throw DataError(fmt::format("{}: is not a file; give a .npy or text file", name));
    const Eigen::MatrixXd dense = is_npy(rule_or_file)
                                      ? read_npy(rule_or_file)
                                      : read_text_matrix(rule_or_file, graph.agents(), name);
    return MixingMatrix::from_dense(graph, dense, MixingKind::averaging, name);
}

}  // namespace sotto
