#include "views/adjoint_grams.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/views/squared_sensitivity.hpp"
#include "views/sparse_products.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// (upper; lower)^T.
SparseRows stacked_transpose(const SparseRows& upper, const SparseRows& lower) {
    std::vector<Eigen::Triplet<double>> entries;
    const auto append = [&](const SparseRows& matrix, Index offset) {
        for (Index row = 0; row < matrix.rows(); ++row)
            for (SparseRows::InnerIterator it(matrix, row); it; ++it)
                entries.emplace_back(
                    static_cast<int>(it.col()), static_cast<int>(offset + row), it.value());
    };
    append(upper, 0);
    append(lower, upper.rows());
    SparseRows result(upper.cols(), upper.rows() + lower.rows());
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

SparseRows rows_of(const SparseRows& matrix, std::span<const int> rows) {
    SparseRows chosen(static_cast<Index>(rows.size()), matrix.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (SparseRows::InnerIterator it(matrix, rows[i]); it; ++it)
            chosen.insert(static_cast<Index>(i), it.col()) = it.value();
    chosen.makeCompressed();
    return chosen;
}

}  // namespace

AdjointGrams::AdjointGrams(const ViewFilter& filter, double memory)
    : filter_(filter), memory_(memory) {
    for (const LinearStep& step : filter.model().steps)
        backward_.push_back(stacked_transpose(step.transition, step.observation));
}

/// Innovations are taken in groups of consecutive times, the latest first, so that those that are
/// followed at any time are the first rows.
class AdjointGrams::Walk {
  public:
    Walk(const AdjointGrams& grams, std::span<const int> targets)
        : grams_(grams),
          filter_(grams.filter_),
          model_(filter_.model()),
          targets_(targets),
          count_(static_cast<Index>(targets.size())),
          result_(targets.size()) {
        for (auto& target : result_) target.gram = MatrixXd::Zero(model_.rounds, model_.rounds);
        for (const SparseRows& backward : grams.backward_)
            widest_ = std::max(widest_, backward.cols());
        for (const LinearStep& step : model_.steps)
            inputs_.push_back(
                rows_of(stacked_transpose(step.state_input, step.observed_input), targets));
    }

    std::vector<TargetGram> run() {
        const double a_row = 8 * static_cast<double>(model_.rounds * count_ + 2 * widest_);
        for (long end = model_.rounds * model_.gossip_steps; end > 0;) {
            long begin = end - 1;
            Index rows = rows_at(begin);
            while (begin > 0 &&
                   a_row * static_cast<double>(rows + rows_at(begin - 1)) <= grams_.memory_)
                rows += rows_at(--begin);
            follow(begin, end, rows);
            end = begin;
        }
        parallel_for(count_, linear_algebra_threads(), [&](long i) { finish(i); });
        return std::move(result_);
    }

  private:
    [[nodiscard]] Index rows_at(long time) const {
        const Whitening& whitening = filter_.at(time).whitening;
        return whitening.rows.rows() + whitening.blind.rows();
    }

    /// Innovations of times begin to end - 1, which are so many rows.
    void follow(long begin, long end, Index rows) {
        if (rows == 0) return;
        rounds_ = (end - 1) / model_.gossip_steps + 1;
        responses_.setZero(rows, rounds_ * count_);
        now_.resize(rows, widest_);
        before_.resize(rows, widest_);
        active_ = 0;
        for (long time = end; time-- > 0;) {
            const auto place = static_cast<std::size_t>(time);
            const auto step = static_cast<std::size_t>(model_.step_at[place]);
            const SparseRows& backward = grams_.backward_[step];
            append_observed(time);
            if (time >= begin) append_innovations(time);
            const auto followed = now_.topLeftCorner(active_, backward.cols());
            if (time % model_.gossip_steps == 0)
                respond(followed, step, time / model_.gossip_steps);
            multiply_transpose(followed, backward, before_.topLeftCorner(active_, backward.rows()));
            now_.swap(before_);
        }
        parallel_for(count_, linear_algebra_threads(), [&](long i) { accumulate(i, begin, end); });
    }

    /// a_{time+1}^T becomes (a_{time+1}^T, o^T).
    void append_observed(long time) {
        const LinearStep& step = model_.at(time);
        const auto& [whitening, gain] = filter_.at(time);
        const Index state = step.transition.rows();
        auto observed = now_.block(0, state, active_, step.observation.rows());
        observed.setZero();
        MatrixXd lost = MatrixXd::Zero(active_, gain.cols());
        add_product(-1, now_.topLeftCorner(active_, state), false, gain, false, lost);
        add_product(1, lost, false, whitening.rows, false, observed);
    }

    /// Rows for the innovations of a time, where they begin.
    void append_innovations(long time) {
        const LinearStep& step = model_.at(time);
        const Whitening& whitening = filter_.at(time).whitening;
        const Index state = step.transition.rows();
        const Index observed = step.observation.rows();
        now_.block(active_, 0, rows_at(time), state).setZero();
        for (const MatrixXd* const rows : {&whitening.rows, &whitening.blind}) {
            now_.block(active_, state, rows->rows(), observed) = *rows;
            active_ += rows->rows();
        }
    }

    /// Column target * rounds + round.
    void respond(const Eigen::Ref<const MatrixXd>& followed, std::size_t step, long round) {
        const MatrixXd felt = times_transpose(followed, inputs_[step]);
        for (Index i = 0; i < count_; ++i)
            responses_.col(i * rounds_ + round).head(active_) = felt.col(i);
    }

    /// Whether a response is seen without noise; only the others count from here on.
    [[nodiscard]] bool take_noiseless(Eigen::Ref<MatrixXd> own, long begin, long end) const {
        bool seen = false;
        Index row = 0;
        for (long time = end; time-- > begin;) {
            const Whitening& whitening = filter_.at(time).whitening;
            row += whitening.rows.rows();
            auto blind = own.middleRows(row, whitening.blind.rows());
            if (blind.rows() > 0 && own.cols() > 0)
                seen = seen || blind.colwise().norm().maxCoeff() > seen_without_noise;
            blind.setZero();
            row += whitening.blind.rows();
        }
        return seen;
    }

    void accumulate(Index place, long begin, long end) {
        auto& target = result_[static_cast<std::size_t>(place)];
        if (target.infinite) return;
        auto own = responses_.middleCols(place * rounds_, rounds_);
        target.infinite = take_noiseless(own, begin, end);
        if (!target.infinite)
            add_product(1, own, true, own, false, target.gram.topLeftCorner(rounds_, rounds_));
    }

    void finish(Index place) {
        auto& target = result_[static_cast<std::size_t>(place)];
        if (target.infinite) {
            target.gram.resize(0, 0);
            return;
        }
        for (long t = 0; t < model_.rounds; ++t) {
            const long time = t * model_.gossip_steps;
            const double noise = model_.noise_at(time);
            target.gram(t, t) +=
                model_.at(time).alone(targets_[static_cast<std::size_t>(place)]) / (noise * noise);
        }
        const Eigen::Map<const Eigen::VectorXd> scale(model_.input_scale.data(), model_.rounds);
        const MatrixXd scaled = scale.asDiagonal() * target.gram * scale.asDiagonal();
        target.gram = scaled.selfadjointView<Eigen::Lower>();
    }

    const AdjointGrams& grams_;
    const ViewFilter& filter_;
    const ObservationModel& model_;
    std::span<const int> targets_;
    Index count_;
    std::vector<SparseRows> inputs_;  ///< (B; D)^T of every step, rows of the targets
    Index widest_ = 0;                ///< of (F; H)^T
    Index rounds_ = 0;                ///< up to the last of the group
    Index active_ = 0;                ///< rows that are followed
    MatrixXd now_, before_, responses_;
    std::vector<TargetGram> result_;
};

std::vector<TargetGram> AdjointGrams::grams(std::span<const int> targets) const {
    if (targets.empty()) return {};
    return Walk(*this, targets).run();
}

}  // namespace sotto
