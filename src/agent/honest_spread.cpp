#include "agent/honest_spread.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// sqrt(2 log(1/p)): a normal vector's norm exceeds sqrt(d) by so much with probability p.
double tail_beyond(double probability) { return std::sqrt(-2 * std::log(probability)); }

constexpr double unlikely = 0.01, unlikely_on_average = 1e-4;

/// What a round's messages become before its k-th exchange, and after all, by eigenvalue.
std::vector<VectorXd> messages_by_eigenvalue(const GossipPolynomial& gossip,
                                             const VectorXd& eigenvalues) {
    std::vector<VectorXd> all{VectorXd::Ones(eigenvalues.size())};
    for (int k = 0; k < gossip.steps(); ++k) {
        VectorXd next = gossip.here(k) * eigenvalues.cwiseProduct(all.back());
        if (gossip.before(k) != 0) next -= gossip.before(k) * all[static_cast<std::size_t>(k) - 1];
        all.push_back(std::move(next));
    }
    VectorXd result = VectorXd::Zero(eigenvalues.size());
    if (!gossip.combines()) return all;
    for (int k = 0; k <= gossip.steps(); ++k)
        result += gossip.share(k) * all[static_cast<std::size_t>(k)];
    all.back() = std::move(result);
    return all;
}

/// ||(e_v - e_u)^T A||_1 of all pairs.
MatrixXd row_distances(const MatrixXd& rows) {
    const Index n = rows.rows();
    MatrixXd result = MatrixXd::Zero(n, n);
    for (Index u = 0; u < n; ++u)
        for (Index v = 0; v < u; ++v)
            result(u, v) = result(v, u) = (rows.row(v) - rows.row(u)).cwiseAbs().sum();
    return result;
}

/// The largest step, earlier ones forgotten as fast as mixing forgets their gradients.
/// @param whole what a round does, by eigenvalue; the last is that of the mean.
double step_that_counts(const VectorXd& whole, double earlier, double step) {
    const Index others = whole.size() - 1;
    const double kept = others > 0 ? whole.head(others).cwiseAbs().maxCoeff() : 0;
    return std::max(step, std::min(kept, 1.0) * earlier);
}

}  // namespace

HonestSpread::HonestSpread(const HonestDrive& drive)
    : contribution_(drive.contribution),
      dimension_(static_cast<double>(drive.dimension)),
      horizon_(std::max(1.0, drive.horizon)) {
    const NoisePlan& plan = drive.plan;
    if (!drive.mixing.symmetric() || plan.entry != NoiseEntry::gradient ||
        plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.distribution() != StreamDistribution::gaussian || drive.gossip.steps() < 1)
        throw Error(ExitCode::other, "no spread of honest messages follows from this plan");
    const SymmetricEigen eigen = symmetric_eigen(drive.mixing.dense());
    const Index n = eigen.values.size();
    basis_ = eigen.vectors;
    noise_ = plan.noiseless() ? MatrixXd::Zero(n, n)
                              : MatrixXd(basis_.transpose() * spatial_covariance(plan) * basis_);
    partial_ = messages_by_eigenvalue(drive.gossip, eigen.values);
    whole_ = partial_.back();
    partial_.pop_back();
    mean_ = VectorXd::Zero(n);
    for (const VectorXd& one : partial_) mean_ += one / static_cast<double>(partial_.size());
    models_ = average_ = both_ = MatrixXd::Zero(n, n);
    // The last eigenvalue of W is 1, that of the mean, which no difference contains.
    const double radius = n > 1 ? whole_.head(n - 1).cwiseAbs().maxCoeff() : 0;
    add_gradients(basis_ * whole_.asDiagonal() * basis_.transpose(), std::min(radius, 1.0));
    average_variance_ = MatrixXd::Zero(n, n);
    variance_.assign(partial_.size(), average_variance_);
}

void HonestSpread::add_gradients(const MatrixXd& mixing, double radius) {
    constexpr int most_terms = 400;
    constexpr double enough = 0.01;  // of the sum
    const Index n = basis_.rows();
    for (const VectorXd& by_eigenvalue : partial_) {
        MatrixXd power = basis_ * by_eigenvalue.asDiagonal() * basis_.transpose();
        MatrixXd sum = row_distances(power);
        double left = by_eigenvalue.cwiseAbs().maxCoeff() * std::sqrt(2.0 * static_cast<double>(n));
        for (int term = 1; term < most_terms; ++term) {
            left *= radius;
            if (left / (1 - std::min(radius, 1 - 1e-9)) < enough * sum.maxCoeff()) break;
            power = power * mixing;
            sum += row_distances(power);
        }
        // What is not summed: 1-norms are at most sqrt(n) times 2-norms, which decay.
        const double rest = left * radius / (1 - std::min(radius, 1 - 1e-9));
        sum.array() += rest;
        sum.diagonal().setZero();
        gradients_.push_back(contribution_ * sum);
    }
}

MatrixXd HonestSpread::of_pairs(const MatrixXd& inner) const {
    const MatrixXd all = basis_ * inner * basis_.transpose();
    const VectorXd own = all.diagonal();
    MatrixXd result = -all - all.transpose();
    result.colwise() += own;
    result.rowwise() += own.transpose();
    return result.cwiseMax(0);
}

bool HonestSpread::due() const {
    constexpr long small = 64, first = 16;
    const long n = basis_.rows();
    return n <= small || rounds_ < first || rounds_ % (n / small) == 0;
}

void HonestSpread::begin_round(double step) {
    if (due()) {
        const MatrixXd messages = models_ + step * step * noise_;
        for (std::size_t k = 0; k < partial_.size(); ++k)
            variance_[k] = of_pairs((partial_[k] * partial_[k].transpose()).cwiseProduct(messages));
        average_variance_ = of_pairs(average_);
    }
    const MatrixXd messages = models_ + step * step * noise_;
    share_ = 1 / std::min(horizon_, static_cast<double>(rounds_ + 1));
    const double kept = 1 - share_;
    const MatrixXd cross = both_ * mean_.asDiagonal();
    average_ = kept * kept * average_ + kept * share_ * (cross + cross.transpose()) +
               share_ * share_ * (mean_ * mean_.transpose()).cwiseProduct(messages);
    both_ = (kept * both_ + share_ * mean_.asDiagonal() * messages) * whole_.asDiagonal();
    models_ = (whole_ * whole_.transpose()).cwiseProduct(messages);
    step_ = step_that_counts(whole_, step_, step);
    ++rounds_;
}

void HonestSpread::pass_round(double step) {
    models_ = (whole_ * whole_.transpose()).cwiseProduct(models_ + step * step * noise_);
    step_ = step_that_counts(whole_, step_, step);
}

double HonestSpread::limit(int exchange, int u, int v) const {
    return std::sqrt(variance(exchange, u, v)) * (std::sqrt(dimension_) + tail_beyond(unlikely)) +
           gradients(exchange, u, v);
}

double HonestSpread::average_noise(int u, int v) const {
    const double x = -std::log(unlikely_on_average);
    return std::sqrt(average_variance(u, v) * (dimension_ + 2 * std::sqrt(dimension_ * x) + 2 * x));
}

}  // namespace sotto
