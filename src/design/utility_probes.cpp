#include "design/utility_probes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "core/seeded_random.hpp"

namespace sotto {

using Eigen::VectorXd;

namespace {

/// Probes that are multiplied at once.
constexpr int lanes = 16;
using Lanes = Eigen::Array<float, 1, lanes>;
using Columns = std::vector<Lanes, Eigen::aligned_allocator<Lanes>>;
/// Blocks of probes computed at a time, whatever the number of threads.
constexpr int blocks_at_once = 4;

std::vector<double> chebyshev_coefficients(const std::vector<double>& at_nodes) {
    const std::size_t count = at_nodes.size();
    std::vector<double> coefficients(count, 0.0);
    const double angle = std::numbers::pi / static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t j = 0; j < count; ++j)
            coefficients[k] += at_nodes[j] * std::cos(angle * static_cast<double>(k) *
                                                      (static_cast<double>(j) + 0.5));
        coefficients[k] *= (k == 0 ? 1.0 : 2.0) / static_cast<double>(count);
    }
    return coefficients;
}

/// Symmetric weights in single precision.
class FloatRows {
  public:
    explicit FloatRows(const MixingMatrix& mixing) : mixing_(mixing) {
        const auto& sparse = mixing.sparse();
        values_.assign(sparse.valuePtr(), sparse.valuePtr() + sparse.nonZeros());
    }
    /// out <- 2 W in - before; half of it in the first step.
    void step(const Columns& in, const Columns& before, bool first, Columns& out) const {
        const float factor = first ? 1.0F : 2.0F;
        std::size_t at = 0;
        for (int u = 0; u < mixing_.agents(); ++u) {
            Lanes sum = Lanes::Zero();
            for (const int v : mixing_.members(u))
                sum += values_[at++] * in[static_cast<std::size_t>(v)];
            const auto row = static_cast<std::size_t>(u);
            out[row] = first ? Lanes(factor * sum) : Lanes(factor * sum - before[row]);
        }
    }

  private:
    const MixingMatrix& mixing_;
    std::vector<float> values_;
};

void remove_mean(Columns& columns) {
    Eigen::Array<double, 1, lanes> sum = Eigen::Array<double, 1, lanes>::Zero();
    for (const Lanes& row : columns) sum += row.cast<double>();
    const Lanes mean = (sum / static_cast<double>(columns.size())).cast<float>();
    for (Lanes& row : columns) row -= mean;
}

/// h(W) columns off the mean.
Columns reached(const FloatRows& rows, const ProbePolynomial& polynomial, Columns start) {
    remove_mean(start);
    Columns before = start, now(start.size()), next(start.size());
    rows.step(start, before, true, now);
    const auto& c = polynomial.coefficients;
    Columns sum(start.size());
    for (std::size_t u = 0; u < sum.size(); ++u)
        sum[u] = static_cast<float>(c[0]) * before[u] +
                 (c.size() > 1 ? static_cast<float>(c[1]) : 0.0F) * now[u];
    for (std::size_t k = 2; k < c.size(); ++k) {
        rows.step(now, before, false, next);
        const auto factor = static_cast<float>(c[k]);
        for (std::size_t u = 0; u < sum.size(); ++u) sum[u] += factor * next[u];
        std::swap(before, now);
        std::swap(now, next);
    }
    remove_mean(sum);
    return sum;
}

Lanes random_signs(SeededRandom& random) {
    const std::uint64_t bits = random();
    Lanes signs;
    for (int lane = 0; lane < lanes; ++lane) signs(lane) = (bits >> lane) & 1 ? 1.0F : -1.0F;
    return signs;
}

/// (W^2)_uv.
double squared_weight(const MixingMatrix& mixing, int u, int v) {
    const auto of_u = mixing.members(u), of_v = mixing.members(v);
    const auto weights_u = mixing.weights(u), weights_v = mixing.weights(v);
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < of_u.size() && j < of_v.size();) {
        if (of_u[i] < of_v[j])
            ++i;
        else if (of_u[i] > of_v[j])
            ++j;
        else
            sum += weights_u[i++] * weights_v[j++];
    }
    return sum;
}

/// Calls use(h(W) start(block)) for every block of probes, in order.
template <class Start, class Use>
void for_each_block(const MixingMatrix& mixing,
                    const ProbePolynomial& polynomial,
                    int probes,
                    Start&& start,
                    Use&& use) {
    const FloatRows rows(mixing);
    const int blocks = (probes + lanes - 1) / lanes;
    for (int first = 0; first < blocks; first += blocks_at_once) {
        const int count = std::min(blocks_at_once, blocks - first);
        std::vector<Columns> found(static_cast<std::size_t>(count));
        parallel_for(count, linear_algebra_threads(), [&](long i) {
            found[static_cast<std::size_t>(i)] =
                reached(rows, polynomial, start(first + static_cast<int>(i)));
        });
        for (const Columns& columns : found) use(columns);
    }
}

}  // namespace

ProbePolynomial probe_polynomial(const UtilityGain& gain) {
    ProbePolynomial polynomial;

    polynomial.exact = gain.at(1e-4) / 1e-8;
    constexpr int grid = 400;
    for (int i = -grid; i <= grid; ++i) {
        const double x = static_cast<double>(i) / grid;
        if (i != 0) polynomial.exact = std::min(polynomial.exact, gain.at(x) / (x * x));
    }
    polynomial.exact = std::max(0.0, polynomial.exact);
    polynomial.of_mean = gain.at(1) - polynomial.exact;
    const auto root = [&](double x) {
        return std::sqrt(std::max(0.0, gain.at(x) - polynomial.exact * x * x));
    };
    constexpr int most = 1024;
    constexpr double negligible = 2e-3;
    for (int count = 32;; count *= 2) {
        std::vector<double> at_nodes;
        for (int j = 0; j < count; ++j)
            at_nodes.push_back(root(std::cos(std::numbers::pi * (j + 0.5) / count)));
        auto& c = polynomial.coefficients;
        c = chebyshev_coefficients(at_nodes);
        double tail = 0;
        std::size_t kept = c.size();
        while (kept > 2 && tail + std::abs(c[kept - 1]) <= negligible) tail += std::abs(c[--kept]);
        if (2 * kept > c.size() && count < most) continue;
        c.resize(kept);
        return polynomial;
    }
}

NoiseCosts estimate_costs(const MixingMatrix& mixing,
                          const ProbePolynomial& polynomial,
                          std::span<const std::pair<int, int>> pairs,
                          int probes,
                          std::uint64_t seed) {
    const int agents = mixing.agents();
    NoiseCosts costs{VectorXd::Zero(agents), VectorXd::Zero(std::ssize(pairs))};
    const auto signs = [&](int block) {
        SeededRandom random(seed, "utility probes", static_cast<std::uint64_t>(block));
        Columns columns(static_cast<std::size_t>(agents));
        for (Lanes& row : columns) row = random_signs(random);
        return columns;
    };
    int used = 0;
    for_each_block(mixing, polynomial, probes, signs, [&](const Columns& columns) {
        used += lanes;
        for (int u = 0; u < agents; ++u)
            costs.agents(u) += columns[static_cast<std::size_t>(u)].square().sum();
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const Lanes difference = columns[static_cast<std::size_t>(pairs[k].first)] -
                                     columns[static_cast<std::size_t>(pairs[k].second)];
            costs.pairs(static_cast<Eigen::Index>(k)) += difference.square().sum();
        }
    });
    costs.agents /= used;
    costs.pairs /= used;
    VectorXd squares(agents);
    for (int u = 0; u < agents; ++u) squares(u) = squared_weight(mixing, u, u);
    costs.agents += polynomial.exact * squares;
    costs.agents.array() += polynomial.of_mean / agents;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [u, v] = pairs[k];
        costs.pairs(static_cast<Eigen::Index>(k)) +=
            polynomial.exact *
            std::max(0.0, squares(u) + squares(v) - 2 * squared_weight(mixing, u, v));
    }
    return costs;
}

Estimate estimate_objective(const MixingMatrix& mixing,
                            const ProbePolynomial& polynomial,
                            std::span<const std::pair<int, int>> pairs,
                            const VectorXd& private_variance,
                            const VectorXd& pair_variance,
                            int probes,
                            std::uint64_t seed) {
    const int agents = mixing.agents();
    const auto noise = [&](int block) {
        SeededRandom random(seed, "noise probes", static_cast<std::uint64_t>(block));
        Columns columns(static_cast<std::size_t>(agents));
        for (int u = 0; u < agents; ++u)
            columns[static_cast<std::size_t>(u)] =
                static_cast<float>(std::sqrt(private_variance(u))) * random_signs(random);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const Lanes shared =
                static_cast<float>(std::sqrt(pair_variance(static_cast<Eigen::Index>(k)))) *
                random_signs(random);
            columns[static_cast<std::size_t>(pairs[k].first)] += shared;
            columns[static_cast<std::size_t>(pairs[k].second)] -= shared;
        }
        return columns;
    };
    double sum = 0, squares = 0;
    int used = 0;
    for_each_block(mixing, polynomial, probes, noise, [&](const Columns& columns) {
        Eigen::Array<double, 1, lanes> values = Eigen::Array<double, 1, lanes>::Zero();
        for (const Lanes& row : columns) values += row.cast<double>().square();
        sum += values.sum();
        squares += values.square().sum();
        used += lanes;
    });
    const double mean = sum / used;
    double exact = polynomial.of_mean * private_variance.mean();
    VectorXd of_agent(agents);
    for (int u = 0; u < agents; ++u) of_agent(u) = squared_weight(mixing, u, u);
    exact += polynomial.exact * of_agent.dot(private_variance);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [u, v] = pairs[k];
        exact += polynomial.exact * pair_variance(static_cast<Eigen::Index>(k)) *
                 (of_agent(u) + of_agent(v) - 2 * squared_weight(mixing, u, v));
    }
    return {exact + mean,
            std::sqrt(std::max(0.0, squares / used - mean * mean) / std::max(1, used - 1))};
}

}  // namespace sotto
