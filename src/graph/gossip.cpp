#include "sotto/graph/gossip.hpp"

#include <Spectra/SymEigsSolver.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/linear_algebra.hpp"
#include "graph/spectrum.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

constexpr NameTable<GossipRule, 3> rules{{{{GossipRule::plain, "plain"},
                                           {GossipRule::chebyshev, "chebyshev"},
                                           {GossipRule::optimal, "optimal"}}}};

constexpr NameTable<Correction, 3> corrections{{{{Correction::none, "none"},
                                                 {Correction::exact_diffusion, "exact-diffusion"},
                                                 {Correction::tracking, "tracking"}}}};

/// The next multiple of a unit above a value, shifted so that no simple fraction lies on the
/// border. Processors whose eigenvalues differ in the last digits must get the same weights, and a
/// Chebyshev polynomial grows fast beyond lambda.
double rounded_up(double value, double unit = 0x1p-36) {
    return (std::ceil(value / unit + 0.37) + 0.5) * unit;
}

Eigen::MatrixXd power(const Eigen::MatrixXd& base, int exponent) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Identity(base.rows(), base.cols());
    Eigen::MatrixXd square = base;
    for (int left = exponent; left > 0; left /= 2) {
        if (left % 2 == 1) result = multiply(result, square);
        if (left > 1) square = multiply(square, square);
    }
    return result;
}

/// The result from m_0 = start, where apply(m) = W m.
template <class Value, class Apply>
Value evaluate(const GossipPolynomial& gossip, const Value& start, Apply&& apply) {
    Value current = start, previous = start;
    Value sum = gossip.share(0) * start;
    for (int k = 0; k < gossip.steps(); ++k) {
        Value next = gossip.here(k) * apply(current);
        if (gossip.before(k) != 0) next -= gossip.before(k) * previous;
        previous = std::move(current);
        current = std::move(next);
        if (gossip.combines()) sum += gossip.share(k + 1) * current;
    }
    return gossip.combines() ? sum : current;
}

/// P_K(W) as an operator for Spectra.
class GossipProduct {
  public:
    using Scalar = double;
    GossipProduct(const MixingMatrix& mixing, const GossipPolynomial& gossip)
        : mixing_(mixing), gossip_(gossip) {}
    [[nodiscard]] Eigen::Index rows() const { return mixing_.agents(); }
    [[nodiscard]] Eigen::Index cols() const { return mixing_.agents(); }
    void perform_op(const double* in, double* out) const {
        const Eigen::Map<const Eigen::VectorXd> x(in, cols());
        Eigen::Map<Eigen::VectorXd>(out, rows()) = gossip_.times(mixing_, x);
    }

  private:
    const MixingMatrix& mixing_;
    const GossipPolynomial& gossip_;
};

constexpr int most_dense_agents = 400;

double smallest_dense_eigenvalue(const MixingMatrix& mixing, const GossipPolynomial& gossip) {
    double least = 1;
    for (const double value : symmetric_eigenvalues(mixing.dense()))
        least = std::min(least, gossip.at(value));
    return least;
}

/// To 1e-6, or -1.
double smallest_sparse_eigenvalue(const MixingMatrix& mixing, const GossipPolynomial& gossip) {
    constexpr int basis = 60, restarts = 200;
    constexpr double tolerance = 1e-6, below_all = -1;
    GossipProduct product(mixing, gossip);
    try {
        Spectra::SymEigsSolver<GossipProduct> solver(product, 1, basis);
        solver.init();
        if (solver.compute(Spectra::SortRule::SmallestAlge, restarts, tolerance) == 1)
            return solver.eigenvalues()(0);
    } catch (const std::exception&) {  // it fails where few eigenvalues are distinct
    }
    return below_all;
}

}  // namespace

GossipRule parse_gossip_rule(std::string_view option, std::string_view text) {
    return rules.parse(option, text);
}
std::string name_of(GossipRule rule) { return rules.name_of(rule); }
std::vector<std::string> gossip_rule_names() { return rules.names(); }

Correction parse_correction(std::string_view option, std::string_view text) {
    return corrections.parse(option, text);
}
std::string name_of(Correction correction) { return corrections.name_of(correction); }
std::vector<std::string> correction_names() { return corrections.names(); }

int exchanges_a_round(Correction correction, int gossip_steps) {
    return correction == Correction::tracking ? 2 * gossip_steps : gossip_steps;
}

GossipPolynomial::GossipPolynomial(int plain_steps) : steps_(plain_steps) {
    if (plain_steps < 0)
        throw ConfigError(fmt::format("gossip-steps: {} is not allowed (0 or more)", plain_steps));
}

GossipPolynomial GossipPolynomial::chebyshev(int steps, double lambda) {
    if (!(lambda >= 0 && lambda < 1))
        throw ConfigError(fmt::format(
            "gossip: chebyshev needs a second eigenvalue from 0 to below 1, and it is {}", lambda));
    GossipPolynomial result(steps);
    if (lambda == 0 || steps < 2) return result;
    double ratio = lambda;
    for (int k = 0; k < steps; ++k) {
        const double earlier = ratio;
        if (k > 0) ratio = 1 / (2 / lambda - earlier);
        result.here_.push_back(k == 0 ? 1 : 2 * ratio / lambda);
        result.before_.push_back(k == 0 ? 0 : ratio * earlier);
    }
    return result;
}

GossipPolynomial GossipPolynomial::combined(GossipPolynomial base, std::vector<double> weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (std::ssize(weights) != base.steps() + 1 || !(std::abs(sum - 1) <= 1e-9))
        throw ConfigError(
            fmt::format("gossip: {} weights with sum {} are not allowed for {} exchanges ({} "
                        "weights with sum 1)",
                        weights.size(),
                        sum,
                        base.steps(),
                        base.steps() + 1));
    base.combination_ = std::move(weights);
    return base;
}

GossipPolynomial GossipPolynomial::with_laziness(double laziness) const {
    if (!(laziness >= 0 && laziness < 1))
        throw ConfigError(
            fmt::format("gossip: laziness {} is not allowed (from 0 to below 1)", laziness));
    if (laziness == 0) return *this;
    std::vector<double> weights;
    for (int k = 0; k <= steps_; ++k) weights.push_back((1 - laziness) * share(k));
    weights.front() += laziness;
    GossipPolynomial result = combined(*this, std::move(weights));
    result.laziness_ = laziness;
    return result;
}

double GossipPolynomial::here(int step) const {
    return here_.empty() ? 1 : here_[static_cast<std::size_t>(step)];
}
double GossipPolynomial::before(int step) const {
    return before_.empty() ? 0 : before_[static_cast<std::size_t>(step)];
}
double GossipPolynomial::share(int message) const {
    if (combines()) return combination_[static_cast<std::size_t>(message)];
    return message == steps_ ? 1 : 0;
}

double GossipPolynomial::at(double eigenvalue) const {
    return evaluate(*this, 1.0, [eigenvalue](double value) { return eigenvalue * value; });
}

std::complex<double> GossipPolynomial::at(std::complex<double> eigenvalue) const {
    return evaluate(*this, std::complex<double>(1), [eigenvalue](std::complex<double> value) {
        return eigenvalue * value;
    });
}

Eigen::MatrixXd GossipPolynomial::of(const Eigen::MatrixXd& mixing) const {
    if (plain()) return power(mixing, steps_);
    const Eigen::MatrixXd start = Eigen::MatrixXd::Identity(mixing.rows(), mixing.cols());
    return evaluate(
        *this, start, [&mixing](const Eigen::MatrixXd& m) { return multiply(mixing, m); });
}

Eigen::MatrixXd GossipPolynomial::times(const MixingMatrix& mixing,
                                        const Eigen::MatrixXd& columns) const {
    return evaluate(*this, columns, [&mixing](const Eigen::MatrixXd& m) {
        return Eigen::MatrixXd(mixing.sparse() * m);
    });
}

GossipPolynomial gossip_polynomial(const MixingMatrix& mixing, GossipRule rule, int steps) {
    if (rule == GossipRule::optimal)
        throw ConfigError(
            "gossip: optimal needs a given mixing matrix (allowed with --mixing optimised: plain, "
            "chebyshev)");
    if (rule == GossipRule::plain || steps < 2) return {steps};
    if (!mixing.symmetric())
        throw ConfigError(
            "gossip: chebyshev needs a symmetric mixing matrix (--mixing metropolis, max-degree, "
            "lazy-metropolis or optimised; or --gossip plain)");
    return GossipPolynomial::chebyshev(steps, mixing_radius(mixing));
}

double laziness_for(const MixingMatrix& mixing, const GossipPolynomial& gossip) {
    constexpr double none = 1e-12, coarse = 0x1p-14;  // coarser than sparse eigenvalues are known
    const bool dense = mixing.agents() <= most_dense_agents;
    const double least = dense ? smallest_dense_eigenvalue(mixing, gossip)
                               : smallest_sparse_eigenvalue(mixing, gossip);
    const double needed = (least_lazy_eigenvalue - least) / (1 - least);
    if (!(needed > none)) return 0;
    return dense ? rounded_up(needed) : rounded_up(needed, coarse);
}

double mixing_radius(const MixingMatrix& mixing) {
    constexpr double exact_consensus = 1e-12;
    const double lambda = second_eigenvalue_modulus(mixing);
    return lambda < exact_consensus ? 0 : rounded_up(lambda);
}

int consensus_steps(const MixingMatrix& mixing, GossipRule rule, double residual, int most) {
    const double lambda = mixing_radius(mixing);
    if (lambda >= 1 || most < 1) return std::max(most, 0);
    // |P_k| <= lambda^k, or 1 / c_k with c_k / c_(k+1) = ratio.
    double bound = lambda, ratio = lambda;
    int steps = 1;
    for (; steps < most && bound > residual; ++steps) {
        if (rule != GossipRule::plain) ratio = 1 / (2 / lambda - ratio);
        bound *= ratio;
    }
    return steps;
}

}  // namespace sotto
