#include "design/joint_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/recent.hpp"
#include "design/changing_utility.hpp"
#include "design/descent.hpp"
#include "design/message_plan.hpp"
#include "design/solver_input.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounds in which one record of one agent can take part; consecutive in the solver's order of
/// rows.
struct JointPattern {
    Index first = 0, size = 0;  ///< rows
    Index entry = 0;            ///< offset of B_p among the unknowns
    double kappa = 0;
};

/// The patterns of all agents, and their rows in H.
class JointPatterns {
  public:
    JointPatterns(const VectorXd& kappa, Index rounds, long cycle)
        : largest_((rounds + cycle - 1) / cycle), order_(kappa.size() * rounds) {
        const Index agents = kappa.size();
        Index row = 0;
        for (Index u = 0; u < agents; ++u)
            for (Index j = 0; j < std::min<Index>(cycle, rounds); ++j) {
                JointPattern pattern{row, 0, entries_, kappa(u)};
                for (Index t = j; t < rounds; t += cycle) order_(row++) = t * agents + u;
                pattern.size = row - pattern.first;
                entries_ += pattern.size * pattern.size;
                patterns_.push_back(pattern);
            }
    }
    [[nodiscard]] const std::vector<JointPattern>& all() const { return patterns_; }
    [[nodiscard]] Index entries() const { return entries_; }
    /// m.
    [[nodiscard]] auto largest() const { return static_cast<double>(largest_); }
    /// For every row here, its row in H.
    [[nodiscard]] const Eigen::VectorX<Index>& order() const { return order_; }

  private:
    Index largest_;
    Index entries_ = 0;
    Eigen::VectorX<Index> order_;
    std::vector<JointPattern> patterns_;
};

/// Results at one B.
struct JointPoint {
    double bound = 0, value = infinity;
    double nuclear = 0, cost = 0;  ///< Tr (H^1/2 Z H^1/2)^1/2, cost(Z)
    VectorXd image;                ///< image of B under the fixed-point map
    MatrixXd half_gram;            ///< Y, X = Y Y^T / excess is feasible
    double excess = 0;
};

/// The dual, for H = L L^T.
class JointDual {
  public:
    JointDual(MatrixXd root, const JointPatterns& patterns, JointOptions::Columns columns)
        : root_(std::move(root)), patterns_(patterns), columns_(columns) {}

    [[nodiscard]] JointPoint evaluate(const VectorXd& unknowns) const {
        JointPoint point;
        MatrixXd product(root_.cols(), root_.rows());  // L^T B
        for (const JointPattern& p : patterns_.all()) {
            const Map<const MatrixXd> block = block_of(unknowns, p);
            product.middleCols(p.first, p.size) =
                root_.middleRows(p.first, p.size).transpose() * block;
            point.cost += cost(block, p);
        }
        MatrixXd gram = MatrixXd::Zero(root_.cols(), root_.cols());
        add_gram(product.transpose(), gram);
        const SymmetricEigen eigen = symmetric_eigen(gram);
        const double largest = eigen.values(eigen.values.size() - 1);
        // Possible rounding is not counted in the bound.
        point.nuclear = (eigen.values.array() > 1e-13 * largest)
                            .select(eigen.values.cwiseMax(0).cwiseSqrt(), 0.0)
                            .sum();
        point.bound = point.nuclear * point.nuclear / point.cost;
        // X = L S^-1 L^T, Tr(H X^-1) = Tr S, for any S > 0.
        const VectorXd roots = eigen.values.cwiseMax(1e-18 * largest).cwiseSqrt();
        const MatrixXd half = eigen.vectors * roots.cwiseSqrt().cwiseInverse().asDiagonal();
        point.half_gram = multiply(root_, half);
        const MatrixXd steered = multiply(half.transpose(), product);
        point.image.resize(unknowns.size());
        for (const JointPattern& p : patterns_.all()) {
            const auto rows = point.half_gram.middleRows(p.first, p.size);
            point.excess = std::max(point.excess, excess(rows * rows.transpose(), p));
            write_image(rows * steered.middleCols(p.first, p.size), p, point.image);
        }
        point.value = point.excess * roots.sum();
        return point;
    }

  private:
    [[nodiscard]] bool equal() const { return columns_ == JointOptions::Columns::equal; }
    [[nodiscard]] static Map<const MatrixXd> block_of(const VectorXd& unknowns,
                                                      const JointPattern& p) {
        return {unknowns.data() + p.entry, p.size, p.size};
    }
    /// Its part of cost(Z).
    [[nodiscard]] double cost(const Map<const MatrixXd>& block, const JointPattern& p) const {
        if (equal()) return p.kappa * block.squaredNorm();
        return p.kappa * patterns_.largest() * block.rowwise().squaredNorm().maxCoeff();
    }
    /// The factor by which X_p exceeds its limit, never underestimated.
    [[nodiscard]] double excess(const MatrixXd& gram, const JointPattern& p) const {
        const VectorXd sums = gram.cwiseAbs().rowwise().sum();
        return equal() ? sums.maxCoeff() / p.kappa : sums.sum() / (p.kappa * patterns_.largest());
    }
    /// The best B_p for the linearised dual of direction G_p = X B_p.
    void write_image(const MatrixXd& direction, const JointPattern& p, VectorXd& image) const {
        Map<MatrixXd> block(image.data() + p.entry, p.size, p.size);
        if (equal()) {
            block = direction / p.kappa;
            return;
        }
        const VectorXd lengths = direction.rowwise().norm().cwiseMax(1e-300);
        const double length = lengths.sum() / (p.kappa * patterns_.largest());
        block = lengths.cwiseInverse().asDiagonal() * direction * length;
    }

    MatrixXd root_;
    const JointPatterns& patterns_;
    JointOptions::Columns columns_;
};

/// L with H = L L^T, in the order of the patterns' rows.
MatrixXd joint_root(const MatrixXd& utility, const JointPatterns& patterns) {
    const SymmetricEigen eigen = symmetric_eigen(utility);
    const Index rows = utility.rows();
    Index zeros = 0;
    while (!(eigen.values(zeros) > 1e-13 * eigen.values(rows - 1))) ++zeros;
    const Index rank = rows - zeros;
    const MatrixXd root =
        eigen.vectors.rightCols(rank) * eigen.values.tail(rank).cwiseSqrt().asDiagonal();
    return root(patterns.order(), Eigen::all);
}

/// B of independent noise.
VectorXd independent_start(const JointPatterns& patterns) {
    VectorXd start(patterns.entries());
    for (const JointPattern& p : patterns.all())
        Map<MatrixXd>(start.data() + p.entry, p.size, p.size) =
            MatrixXd::Identity(p.size, p.size) / std::sqrt(p.kappa);
    return start;
}

void require_joint_input(const MatrixXd& utility, const VectorXd& kappa, long cycle) {
    require_kappa(kappa);
    if (cycle < 1)
        throw ConfigError(fmt::format("cycle: {} is not allowed (must be at least 1)", cycle));
    if (utility.rows() != utility.cols() || utility.rows() % kappa.size() != 0)
        throw ConfigError(fmt::format(
            "utility matrix: {} x {} is not possible for {} agents (a row for every agent in every "
            "round)",
            utility.rows(),
            utility.cols(),
            kappa.size()));
    if (!(utility.trace() > 0)) throw ConfigError("utility matrix: must not be zero");
}

/// X of a point, in the order of H.
MatrixXd joint_gram(const JointPoint& point, const JointPatterns& patterns) {
    MatrixXd half(point.half_gram.rows(), point.half_gram.cols());
    half(patterns.order(), Eigen::all) = point.half_gram / std::sqrt(point.excess);
    return multiply(half, half.transpose());
}

}  // namespace

JointSolution solve_joint_gram(const MatrixXd& utility,
                               const VectorXd& kappa,
                               long cycle,
                               const JointOptions& options) {
    require_joint_input(utility, kappa, cycle);
    const JointPatterns patterns(kappa, utility.rows() / kappa.size(), cycle);
    const double unit = utility.trace() / static_cast<double>(utility.rows());
    const JointDual dual(joint_root(utility / unit, patterns), patterns, options.columns);
    constexpr std::size_t memory = 8;
    AndersonSteps steps(memory);
    VectorXd unknowns = independent_start(patterns), plain = unknowns;
    JointSolution solution;
    solution.value = infinity;
    while (solution.iterations < options.max_iterations) {
        JointPoint point = dual.evaluate(unknowns);
        ++solution.iterations;
        if (!(point.bound >= solution.lower_bound * (1 - 1e-12)) && unknowns != plain) {
            steps.forget();  // went too far
            unknowns = plain;
            continue;
        }
        solution.lower_bound = std::max(solution.lower_bound, point.bound);
        if (point.value < solution.value) {
            solution.value = point.value;
            solution.gram = joint_gram(point, patterns);
        }
        if (solution.value - solution.lower_bound <= options.relative_gap * solution.value) break;
        plain = std::move(point.image);
        // The image has the best scale; scale the point to match.
        unknowns = steps.next(unknowns * (point.nuclear / point.cost), plain);
    }
    solution.value *= unit;
    solution.lower_bound *= unit;
    return solution;
}

namespace {

/// Refuses early the shapes that require_separate_rounds would refuse.
void require_separate_shape(const DesignInput& input) {
    const TemporalShape& shape = input.temporal;
    const bool one_lag = shape.kind == TemporalShape::Kind::one_lag;
    long reach = shape.kind == TemporalShape::Kind::banded ? shape.band : input.rounds - 1;
    if (shape.restart > 0) reach = std::min(reach, shape.restart - 1);
    if (!one_lag && reach < input.participation.cycle) return;
    throw ConfigError(fmt::format(
        "temporal: {} is not possible with participation {}, {} (allowed: banded:B with B up to "
        "{}, or dense with --temporal-restart up to {})",
        name_of(shape),
        name_of(input.participation),
        one_lag ? "whose sampled rounds are counted one by one: one-lag makes each count more"
                : "since nothing is proved for sampled rounds of one record that share noise",
        input.participation.cycle - 1,
        input.participation.cycle));
}

Digest problem_digest(const DesignInput& input,
                      const Eigen::MatrixXd& covariance,
                      const TemporalShape& shape,
                      Certificate certificate) {
    return Hasher("sotto.time-problem.v1")
        .add_bytes(design_digest(input))
        .add(values_of(covariance))
        .add(name_of(shape))
        .add(static_cast<std::int64_t>(certificate))
        .finish();
}

ShapedFactor solve(const DesignInput& input,
                   const Eigen::MatrixXd& covariance,
                   const TemporalShape& shape,
                   Certificate certificate) {
    const std::vector<double> steps = design_steps(input);
    const long cycle = input.participation.cycle;
    if (input.schedule)
        return solve_shaped_factor(
            temporal_utility(*input.schedule, covariance, steps, input.gossip.steps()),
            cycle,
            shape);
    return solve_shaped_factor(
        *input.mixing, covariance, steps, input.gossip, cycle, shape, certificate);
}

}  // namespace

void require_choice_of_rounds(const DesignInput& input, std::string_view mechanism) {
    if (input.temporal.independent()) return;
    if (input.participation.poisson && input.participation.cycle > 1) require_separate_shape(input);
    if (input.participation.cycle < 2)
        throw ConfigError(fmt::format(
            "participation: {} leaves mechanism {} nothing to choose, since every round then "
            "counts against every other (use cyclic:b or cyclic-poisson:b with a record adjacency, "
            "or another mechanism)",
            name_of(input.participation),
            mechanism));
}

DesignInput relative_input(const DesignInput& input) {
    DesignInput relative = input;
    relative.kappa = relative_limits(input.kappa).kappa;
    return relative;
}

Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input) {
    return relative_limits(input.kappa).unit * spatial_covariance(plan);
}

Eigen::MatrixXd space_given_time(const DesignInput& input, const TemporalFactor& factor) {
    const std::vector<double> steps = design_steps(input);
    return input.schedule ? spatial_utility(*input.schedule, factor, steps, input.gossip.steps())
                          : spatial_utility(*input.mixing, factor, steps, input.gossip);
}

std::size_t bytes_of(const TemporalFactor& factor) {
    return sizeof(double) * static_cast<std::size_t>(factor.lower.size());
}

ShapedFactor time_given_space(const DesignInput& input, const Eigen::MatrixXd& covariance) {
    return time_given_space(input, covariance, input.temporal, Certificate::wanted);
}

ShapedFactor time_given_space(const DesignInput& input,
                              const Eigen::MatrixXd& covariance,
                              const TemporalShape& shape,
                              Certificate certificate) {
    static Recent<ShapedFactor> recent;
    return recent.get(
        problem_digest(input, covariance, shape, certificate),
        [&] { return solve(input, covariance, shape, certificate); },
        [](const ShapedFactor& solution) { return bytes_of(solution.factor); });
}

}  // namespace sotto
