#include "views/convex_view.hpp"

#include <LBFGSB.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "privacy/dropouts.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "views/process_checks.hpp"
#include "views/tight_sensitivity.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Rounds = std::vector<Index>;

/// What the bound of one observer needs, for all targets.
class ConvexView {
  public:
    ConvexView(const MessageProcess& process, const View& view);

    /// The least bound that is found. @param active rounds in which the target takes part.
    [[nodiscard]] double least(int target, const Rounds& active) const;

  private:
    /// The bound for these shares of what is left, rounds x agents, and its derivatives.
    [[nodiscard]] double bound(const MatrixXd& source,
                               const MatrixXd& share,
                               MatrixXd* slope) const;
    /// |W|^K x, or its transpose.
    [[nodiscard]] VectorXd mixed(long round, VectorXd x, bool transposed) const;
    [[nodiscard]] double step(long round) const {
        return steps_.empty() ? 1 : steps_[static_cast<std::size_t>(round)];
    }

    const Phase& phase_;
    int exchanges_;
    const std::vector<double>& steps_;
    std::map<const MixingMatrix*, Eigen::SparseMatrix<double>> weights_;  // absolute values
    Eigen::SparseMatrix<double> cost_;           // |(R^(I))^-1|; 0 for members
    std::vector<std::pair<Index, Index>> free_;  // round and agent whose share is chosen
    MatrixXd shown_;                             // 1 where nothing may be left, else 0
};

ConvexView::ConvexView(const MessageProcess& process, const View& view)
    : phase_(process.phases.front()),
      exchanges_(process.gossip_of(phase_).steps()),
      steps_(process.step_sizes) {
    const int n = process.plan->agents;
    const MatrixXd covariance = outer_product(unknown_coefficients(*process.plan, view.members));
    std::vector<Index> others;
    for (int u = 0; u < n; ++u)
        if (!view.has_member(u)) others.push_back(u);
    const Eigen::LLT<MatrixXd> root(covariance(others, others));
    if (root.info() != Eigen::Success || !(root.rcond() > 1e-12))
        throw ConfigError(
            "--inputs convex: no bound is known where the noise of all agents but the observers "
            "has no inverse covariance (allowed: mechanisms with noise of every agent's own)");
    MatrixXd cost = MatrixXd::Zero(n, n);
    cost(others, others) =
        root.solve(MatrixXd::Identity(std::ssize(others), std::ssize(others))).cwiseAbs();
    cost_ = cost.sparseView();
    shown_ = MatrixXd::Zero(phase_.rounds, n);
    for (long t = 0; t < phase_.rounds; ++t) {
        const MixingMatrix& mixing = phase_.mixing.at(t);
        auto& weights = weights_[&mixing];
        if (weights.size() == 0) weights = MatrixXd(mixing.sparse()).cwiseAbs().sparseView();
        // Messages of the later exchanges are made of those of the first.
        VectorXd seen = VectorXd::Zero(n);
        for (const int member : view.members) {
            seen(member) = 1;
            for (const int v : process.graph->neighbours(member)) seen(v) = 1;
        }
        for (int k = 1; k < exchanges_; ++k) seen += weights.transpose() * seen;
        shown_.row(t) = (seen.array() > 0).cast<double>();
        for (Index u = 0; u < n; ++u)
            if (shown_(t, u) == 0) free_.emplace_back(t, u);
    }
}

VectorXd ConvexView::mixed(long round, VectorXd x, bool transposed) const {
    const auto& weights = weights_.at(&phase_.mixing.at(round));
    for (int k = 0; k < exchanges_; ++k)
        x = transposed ? VectorXd(weights.transpose() * x) : VectorXd(weights * x);
    return x;
}

double ConvexView::bound(const MatrixXd& source, const MatrixXd& share, MatrixXd* slope) const {
    const Index rounds = share.rows();
    MatrixXd apart(rounds, share.cols()), prices(rounds, share.cols());
    VectorXd left = VectorXd::Zero(share.cols());
    double sum = 0;
    for (Index t = 0; t < rounds; ++t) {
        const VectorXd here = left + source.row(t).transpose();
        const VectorXd taken = here.cwiseProduct(share.row(t).transpose()) / step(t);
        const VectorXd price = cost_ * taken;
        sum += taken.dot(price);
        apart.row(t) = here;
        prices.row(t) = 2 * price / step(t);
        left = mixed(t, here.cwiseProduct((1 - share.row(t).array()).matrix().transpose()), false);
    }
    if (slope == nullptr) return sum;
    slope->resize(rounds, share.cols());
    VectorXd later = VectorXd::Zero(share.cols());
    for (Index t = rounds; t-- > 0;) {
        const VectorXd passed = mixed(t, later, true);
        const VectorXd price = prices.row(t);
        slope->row(t) = (price - passed).cwiseProduct(apart.row(t).transpose());
        later = passed + (price - passed).cwiseProduct(share.row(t).transpose());
    }
    return sum;
}

double ConvexView::least(int target, const Rounds& active) const {
    MatrixXd source = MatrixXd::Zero(shown_.rows(), shown_.cols());
    for (const Index t : active) source(t, target) = step(t);
    double best = infinity;
    const auto value = [&](const VectorXd& chosen, VectorXd& slope) {
        MatrixXd share = shown_, slopes;
        for (std::size_t i = 0; i < free_.size(); ++i)
            share(free_[i].first, free_[i].second) = chosen(static_cast<Index>(i));
        const double found = bound(source, share, &slopes);
        for (std::size_t i = 0; i < free_.size(); ++i)
            slope(static_cast<Index>(i)) = slopes(free_[i].first, free_[i].second);
        best = std::min(best, found);
        return found;
    };
    const auto count = std::ssize(free_);
    LBFGSpp::LBFGSBParam<double> parameters;
    parameters.max_iterations = 150;
    parameters.epsilon = parameters.epsilon_rel = 1e-9;
    parameters.past = 5;
    parameters.delta = 1e-5;
    VectorXd chosen = VectorXd::Constant(count, 0.1), slope(count);
    double reached = value(chosen, slope);
    if (count > 0) try {
            LBFGSpp::LBFGSBSolver<double> solver(parameters);
            (void)solver.minimize(
                value, chosen, reached, VectorXd::Zero(count), VectorXd::Ones(count));
        } catch (const std::exception&) {
            // A line search that ends early leaves the best bound so far.
        }
    return best;
}

/// The sensitivity of losses without curvature, whose gradients are fixed, is one of those bounded.
void require_above(const SquaredSensitivity& fixed, double bound, int target) {
    constexpr double rounding = 1e-6;
    if (!(fixed.infinite || fixed.constant_sign > bound * (1 + rounding))) return;
    throw PrivacyError(fmt::format(
        "--inputs convex: agent {}'s bound {:.9g} is below {:.9g}, the sensitivity of losses "
        "without curvature; please report this",
        target,
        bound,
        fixed.infinite ? infinity : fixed.constant_sign));
}

}  // namespace

void require_convex_case(std::string_view option,
                         const MessageProcess& process,
                         const Participation& participation) {
    const NoisePlan& plan = *process.plan;
    const auto refuse = [&](const char* what, const char* allowed) {
        throw ConfigError(
            fmt::format("{}: no bound is known with {} (allowed: {})", option, what, allowed));
    };
    if (process.phases.size() != 1 || !process.phases.front().departed.empty())
        refuse("agents that leave or return", "the same agents in all rounds");
    if (!process.gossip_of(process.phases.front()).plain() || process.momentum != 0 ||
        process.correction != Correction::none || process.final_gossip != 0)
        refuse("momentum, corrections, final or Chebyshev gossip", "--gossip plain alone");
    if (plan.distribution() != StreamDistribution::gaussian ||
        plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.entry != NoiseEntry::gradient || plan.aggregation != Aggregation::gossip ||
        !plan.same_message_to_all())
        refuse("this noise",
               "Gaussian noise on gradients, independent between rounds and equal in all of them");
    if (participation.is_secret()) refuse("rounds that are sampled in secret", "every or cyclic:b");
}

std::vector<SquaredSensitivity> convex_sensitivity(const MessageProcess& process,
                                                   const View& view,
                                                   std::span<const int> targets,
                                                   const Participation& participation,
                                                   const ViewOptions& options) {
    check_process(process);
    check_view(process, view, targets);
    require_convex_case("--inputs convex", process, participation);
    const View messages{View::Kind::neighbours, view.members};
    std::vector<SquaredSensitivity> result =
        view_sensitivity(process, messages, targets, participation, options);
    const ConvexView bounds(process, messages);
    const auto patterns = participation_patterns(process.training_rounds(), participation);
    parallel_for(std::ssize(targets), options.threads, [&](long i) {
        SquaredSensitivity& own = result[static_cast<std::size_t>(i)];
        const int target = targets[static_cast<std::size_t>(i)];
        if (view.has_member(target)) return;
        double bound = 0;
        for (const Rounds& active : patterns) bound = std::max(bound, bounds.least(target, active));
        require_above(own, bound, target);
        own.abs_sum = infinity;  // of fixed inputs, no bound here
        own.tight_lower = own.constant_sign;
        own.tight_upper = bound;
    });
    return result;
}

}  // namespace sotto
