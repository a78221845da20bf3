#include "views/view_filter.hpp"

#include <algorithm>

#include "core/linear_algebra.hpp"
#include "privacy/dropouts.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/adjoint_grams.hpp"
#include "views/view_grams.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double well_conditioned = 1e-7;  // smallest squared pivot that needs no eigenvalues

}  // namespace

bool Whitening::shows_without_noise(const MatrixXd& columns) const {
    return blind.rows() > 0 && (blind * columns).colwise().norm().maxCoeff() > seen_without_noise;
}

Whitening whiten(const MatrixXd& covariance, double floor) {
    const Index size = covariance.rows();
    Whitening result;
    result.rows.resize(0, size);
    result.blind.resize(0, size);
    if (size == 0) return result;
    const double largest = covariance.diagonal().maxCoeff();
    if (!(largest > floor)) {
        result.blind = MatrixXd::Identity(size, size);
        return result;
    }
    MatrixXd lower = covariance;
    if (cholesky(lower)) {
        const double pivot = lower.diagonal().cwiseAbs2().minCoeff();
        if (pivot > well_conditioned * largest && pivot > 100 * floor) {
            result.rows = MatrixXd::Identity(size, size);
            solve_lower(lower, result.rows);
            return result;
        }
    }
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double cut_off = std::max(floor, rank_cut_off * eigen.values(size - 1));
    Index blind = 0;
    while (blind < size && !(eigen.values(blind) > cut_off)) ++blind;
    result.blind = eigen.vectors.leftCols(blind).transpose();
    result.rows = eigen.values.tail(size - blind).cwiseSqrt().cwiseInverse().asDiagonal() *
                  eigen.vectors.rightCols(size - blind).transpose();
    return result;
}

namespace {

constexpr double steady_tolerance = 1e-13;

using Eigen::Index;
using Eigen::MatrixXd;

/// First round from which all steps and scales equal those of the previous round.
long first_repeating_round(const ObservationModel& model) {
    const auto same = [&](long t) {
        for (int k = 0; k < model.gossip_steps; ++k)
            if (model.step_at[static_cast<std::size_t>(t * model.gossip_steps + k)] !=
                model.step_at[static_cast<std::size_t>((t - 1) * model.gossip_steps + k)])
                return false;
        return model.noise_scale[static_cast<std::size_t>(t)] ==
               model.noise_scale[static_cast<std::size_t>(t - 1)];
    };
    long round = model.rounds - 1;
    while (round > 0 && same(round)) --round;
    return round;
}

}  // namespace

ViewFilter::ViewFilter(const ObservationModel& model) : model_(model), steady_round_(model.rounds) {
    const long repeating = first_repeating_round(model);
    const long times = model.rounds * model.gossip_steps;
    MatrixXd covariance, round_before, moved;
    double scale = 0;  // largest variance of the round: rounding is relative to it
    for (long time = 0; time < times; ++time) {
        const long round = time / model.gossip_steps;
        if (time % model.gossip_steps == 0) {
            // Gains repeat if both the round and the covariance repeat.
            if (round > repeating && round_before.rows() == covariance.rows() &&
                largest_entry(covariance - round_before) <=
                    steady_tolerance * largest_entry(covariance)) {
                steady_round_ = round - 1;
                return;
            }
            round_before = covariance;
            scale = 0;
        }
        const LinearStep& step = model.at(time);
        const double noise = model.noise_at(time) * model.noise_at(time);
        const Index observed = step.observation.rows();
        const MatrixXd with_seen = times_transpose(covariance, step.observation);
        MatrixXd innovation = step.observation * with_seen;
        innovation += noise * step.observed_covariance;
        MatrixXd cross = step.transition * with_seen;
        cross += noise * step.cross_covariance;
        if (covariance.size() > 0) scale = std::max(scale, covariance.diagonal().maxCoeff());
        if (observed > 0)
            scale =
                std::max(scale, noise * MatrixXd(step.observed_covariance).diagonal().maxCoeff());
        Gain gain;
        gain.whitening = whiten(innovation, variance_rounding * scale);
        gain.gain = MatrixXd::Zero(cross.rows(), gain.whitening.rows.rows());
        add_product(1, cross, false, gain.whitening.rows, true, gain.gain);
        moved.resize(covariance.rows(), step.transition.rows());
        multiply_transpose(covariance, step.transition, moved);
        covariance.resize(step.transition.rows(), step.transition.rows());
        multiply_symmetric(step.transition, moved, covariance);
        covariance += noise * step.state_covariance;
        add_product(-1, gain.gain, false, gain.gain, true, covariance);
        gains_.push_back(std::move(gain));
    }
}

const ViewFilter::Gain& ViewFilter::at(long time) const {
    const long steps = model_.gossip_steps;
    const long round = std::min(time / steps, steady_round_);
    return gains_[static_cast<std::size_t>(round * steps + time % steps)];
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double died_out = 1e-18;  // of a unit input

/// Propagates unit inputs of all targets in all rounds up to the steady one together. Column s *
/// targets + i of the state is the response to target i's input in round s.
class Responses {
  public:
    Responses(const ViewFilter& filter, std::span<const int> targets)
        : filter_(filter),
          model_(filter.model()),
          targets_(targets),
          count_(static_cast<Index>(targets.size())),
          last_start_(std::min(filter.steady_round(), model_.rounds - 1)),
          result_(targets.size()) {
        for (auto& target : result_) target.gram = MatrixXd::Zero(model_.rounds, model_.rounds);
    }

    std::vector<TargetGram> run() {
        for (long round = 0; round < model_.rounds; ++round) {
            const MatrixXd whitened = play(round);
            accumulate(whitened, round);
            if (filter_.steady_round() < model_.rounds && round >= last_start_)
                history_.push_back(whitened);
            if (round >= last_start_ && drop_the_dead() == 0) break;
        }
        for (std::size_t i = 0; i < result_.size(); ++i) finish(i);
        return std::move(result_);
    }

  private:
    /// One round: returns the whitened innovations of all its gossip steps, stacked, columns first_
    /// * count_ onward.
    MatrixXd play(long round) {
        MatrixXd whitened(0, 0);
        const bool starts = round <= last_start_;
        for (int k = 0; k < model_.gossip_steps; ++k) {
            const long time = round * model_.gossip_steps + k;
            const LinearStep& step = model_.at(time);
            const ViewFilter::Gain& gain = filter_.at(time);
            MatrixXd seen = step.observation * state_;
            MatrixXd next = step.transition * state_;
            if (k == 0 && starts) {
                const Index before = state_.cols();
                seen.conservativeResize(step.observation.rows(), before + count_);
                next.conservativeResize(step.transition.rows(), before + count_);
                seen.rightCols(count_) = inputs(step.observed_input);
                next.rightCols(count_) = inputs(step.state_input);
            }
            find_noiseless(gain.whitening.blind, seen);
            const MatrixXd responses = product(gain.whitening.rows, false, seen);
            add_product(-1, gain.gain, false, responses, false, next);
            append_rows(whitened, responses);
            state_ = std::move(next);
        }
        return whitened;
    }

    MatrixXd inputs(const SparseRows& input) const {
        MatrixXd columns = MatrixXd::Zero(input.rows(), count_);
        const Eigen::SparseMatrix<double> by_column(input);
        for (Index i = 0; i < count_; ++i)
            for (Eigen::SparseMatrix<double>::InnerIterator it(
                     by_column, targets_[static_cast<std::size_t>(i)]);
                 it;
                 ++it)
                columns(it.row(), i) = it.value();
        return columns;
    }

    void find_noiseless(const MatrixXd& blind, const MatrixXd& seen) {
        if (blind.rows() == 0 || seen.cols() == 0) return;
        const Eigen::RowVectorXd largest = (blind * seen).colwise().norm();
        for (Index column = 0; column < largest.size(); ++column)
            if (largest(column) > seen_without_noise)
                result_[static_cast<std::size_t>(column % count_)].infinite = true;
    }

    /// Responses to one target's inputs in rounds first, first + 1, ...
    Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> of_target(const MatrixXd& whitened,
                                                                  Index target) const {
        return {whitened.data() + target * whitened.rows(),
                whitened.rows(),
                count_ == 0 ? 0 : whitened.cols() / count_,
                Eigen::OuterStride<>(whitened.rows() * count_)};
    }

    void accumulate(const MatrixXd& whitened, long round) {
        const LinearStep& step = model_.at(round * model_.gossip_steps);
        const double noise = model_.noise_at(round * model_.gossip_steps);
        for (Index i = 0; i < count_; ++i) {
            auto& target = result_[static_cast<std::size_t>(i)];
            if (target.infinite) continue;
            const auto rows = of_target(whitened, i);
            if (rows.rows() > 0) {
                const MatrixXd product = rows.transpose() * rows;
                target.gram.block(first_, first_, product.rows(), product.cols()) += product;
            }
            if (round <= last_start_)
                target.gram(round, round) +=
                    step.alone(targets_[static_cast<std::size_t>(i)]) / (noise * noise);
        }
    }

    /// Drops the earliest rounds whose responses have vanished; returns the number of rounds left.
    long drop_the_dead() {
        const Index starts = count_ == 0 ? 0 : state_.cols() / count_;
        Index dead = 0;
        while (dead < starts && largest_entry(state_.middleCols(dead * count_, count_)) < died_out)
            ++dead;
        if (dead > 0) {
            state_ = MatrixXd(state_.rightCols((starts - dead) * count_));
            first_ += dead;
        }
        return starts - dead;
    }

    /// Fills in the steady part, symmetrises, applies step sizes.
    void finish(std::size_t place) {
        auto& target = result_[place];
        if (target.infinite) {
            target.gram.resize(0, 0);
            return;
        }
        MatrixXd& gram = target.gram;
        if (last_start_ < model_.rounds - 1) extend(static_cast<Index>(place), gram);
        const Eigen::Map<const Eigen::VectorXd> scale(model_.input_scale.data(), gram.rows());
        gram = scale.asDiagonal() * gram * scale.asDiagonal();
    }

    /// Gram_{s,t} for t > last start: sum over rounds k >= t of r_k(s) . r_{k-t}, with r_j the
    /// steady response j rounds after its input.
    void extend(Index place, MatrixXd& gram) const {
        const Index starts = last_start_ + 1;
        const Index length = static_cast<Index>(history_.size());
        Index dimension = 0;
        for (const auto& whitened : history_) dimension = std::max(dimension, whitened.rows());
        // Columns of `after(s)`: responses to the input of round s in rounds last start + j.
        std::vector<MatrixXd> after(static_cast<std::size_t>(starts));
        for (auto& matrix : after) matrix = MatrixXd::Zero(dimension, length);
        for (Index j = 0; j < length; ++j) {
            const MatrixXd& whitened = history_[static_cast<std::size_t>(j)];
            const auto rows = of_target(whitened, place);
            const Index skipped = starts - rows.cols();
            for (Index s = 0; s < rows.cols(); ++s)
                after[static_cast<std::size_t>(skipped + s)].col(j).head(rows.rows()) = rows.col(s);
        }
        const MatrixXd& steady = after.back();
        const double noise = model_.noise_scale.back();
        const double alone = model_.at((model_.rounds - 1) * model_.gossip_steps)
                                 .alone(targets_[static_cast<std::size_t>(place)]) /
                             (noise * noise);
        for (Index s = 0; s < starts; ++s) {
            MatrixXd products = MatrixXd::Zero(length, length);
            add_product(1, after[static_cast<std::size_t>(s)], true, steady, false, products);
            for (Index lag = s + 1 == starts ? 0 : 1; lag < length; ++lag) {
                // Sums over j = 0 .. rounds left after round t, for t = last start + lag.
                const Index t = last_start_ + lag;
                if (t >= model_.rounds) break;
                double sum = 0;
                const Index most = std::min<Index>(length - 1 - lag, model_.rounds - 1 - t);
                if (s + 1 < starts) {
                    for (Index j = 0; j <= most; ++j) sum += products(j + lag, j);
                    gram(s, t) = gram(t, s) = sum;
                    continue;
                }
                // Between two steady rounds t - lag and t only the lag and the rounds left matter.
                Index j = 0;
                for (Index later = model_.rounds - 1;
                     later - lag >= last_start_ && later > last_start_;
                     --later) {
                    if (j <= length - 1 - lag) sum += products(j + lag, j);
                    ++j;
                    gram(later - lag, later) = gram(later, later - lag) =
                        sum + (lag == 0 ? alone : 0.0);
                }
            }
        }
    }

    const ViewFilter& filter_;
    const ObservationModel& model_;
    std::span<const int> targets_;
    Index count_;
    long last_start_;
    long first_ = 0;  // round of the earliest input still followed
    MatrixXd state_;
    std::vector<MatrixXd> history_;  // whitened innovations from the steady round on
    std::vector<TargetGram> result_;
};

}  // namespace

std::vector<TargetGram> target_grams(const ViewFilter& filter, std::span<const int> targets) {
    if (targets.empty()) return {};
    return Responses(filter, targets).run();
}

}  // namespace sotto
