#include "views/adjoint_grams.hpp"

#include <algorithm>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_grams.hpp"

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

/// Groups of consecutive times, latest first, so that the innovations followed at any time are the
/// first rows.
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

    /// Follows the innovations of times begin to end - 1, `rows` in total.
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

    /// Extends a_{time+1}^T to (a_{time+1}^T, o^T).
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

    /// Starts the innovations of a time.
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

    /// Whether a response is seen without noise; only the others are processed further.
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
    Index active_ = 0;                ///< rows being followed
    MatrixXd now_, before_, responses_;
    std::vector<TargetGram> result_;
};

std::vector<TargetGram> AdjointGrams::grams(std::span<const int> targets) const {
    if (targets.empty()) return {};
    return Walk(*this, targets).run();
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index width = 16;         // rows computed together, in registers
constexpr double worth_them = 1e6;  // multiplications worth starting threads

using Rows = Eigen::Array<double, width, 1>;
using Packed = Eigen::Array<double, width, Eigen::Dynamic>;

/// Columns `first` on of out^T: rows of dense * sparse^T for the dense rows in `packed`.
void multiply_packed(const Packed& packed,
                     const SparseRows& sparse,
                     Index first,
                     Index count,
                     Index first_column,
                     Eigen::Ref<MatrixXd> out) {
    for (Index i = first_column; i < sparse.rows(); ++i) {
        Rows sum = Rows::Zero();
        for (SparseRows::InnerIterator it(sparse, i); it; ++it)
            sum += it.value() * packed.col(it.col());
        out.col(i).segment(first, count) = sum.head(count).matrix();
    }
}

/// pack(first, count, packed) copies rows of the dense matrix into the first rows of `packed`;
/// from(first) is the first column of out that they need.
template <class Pack, class From>
void multiply_blocks(Index inner,
                     const SparseRows& sparse,
                     const Pack& pack,
                     const From& from,
                     Eigen::Ref<MatrixXd> out) {
    const Index rows = out.rows();
    const double work = static_cast<double>(rows) * static_cast<double>(sparse.nonZeros());
    parallel_for((rows + width - 1) / width,
                 work < worth_them ? 1 : linear_algebra_threads(),
                 [&](long block) {
                     const Index first = block * width;
                     const Index count = std::min(width, rows - first);
                     Packed packed = Packed::Zero(width, inner);
                     pack(first, count, packed);
                     multiply_packed(packed, sparse, first, count, from(first), out);
                 });
}

}  // namespace

void multiply_transpose(const Eigen::Ref<const MatrixXd>& dense,
                        const SparseRows& sparse,
                        Eigen::Ref<MatrixXd> out) {
    multiply_blocks(
        dense.cols(),
        sparse,
        [&](Index first, Index count, Packed& packed) {
            packed.topRows(count) = dense.middleRows(first, count).array();
        },
        [](Index) { return Index{0}; },
        out);
}

MatrixXd times_transpose(const Eigen::Ref<const MatrixXd>& dense, const SparseRows& sparse) {
    MatrixXd out(dense.rows(), sparse.rows());
    multiply_transpose(dense, sparse, out);
    return out;
}

void multiply_symmetric(const SparseRows& sparse, const MatrixXd& right, Eigen::Ref<MatrixXd> out) {
    // Rows of right^T * sparse^T, each from the diagonal on.
    multiply_blocks(
        right.rows(),
        sparse,
        [&](Index first, Index count, Packed& packed) {
            packed.topRows(count) = right.middleCols(first, count).transpose().array();
        },
        [](Index first) { return first; },
        out);
    out.triangularView<Eigen::StrictlyLower>() = out.transpose();
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// One round, from the state before it (columns) to the state after it.
struct Played {
    MatrixXd state;     // after the round
    MatrixXd whitened;  // of all its gossip steps
    MatrixXd blind;     // innovations outside the range of the noise
};

/// @param state, or empty for unit inputs of the targets in the first gossip step.
Played play_round(const ViewFilter& filter,
                  long round,
                  MatrixXd state,
                  std::span<const int> targets) {
    const ObservationModel& model = filter.model();
    Played played;
    for (int k = 0; k < model.gossip_steps; ++k) {
        const long time = round * model.gossip_steps + k;
        const LinearStep& step = model.at(time);
        const ViewFilter::Gain& gain = filter.at(time);
        MatrixXd seen, next;
        if (k == 0 && !targets.empty()) {
            MatrixXd units =
                MatrixXd::Zero(step.state_input.cols(), static_cast<Index>(targets.size()));
            for (std::size_t i = 0; i < targets.size(); ++i)
                units(targets[i], static_cast<Index>(i)) = 1;
            seen = step.observed_input * units;
            next = step.state_input * units;
        } else {
            seen = step.observation * state;
            next = step.transition * state;
        }
        const MatrixXd whitened = product(gain.whitening.rows, false, seen);
        append_rows(played.whitened, whitened);
        append_rows(played.blind, product(gain.whitening.blind, false, seen));
        add_product(-1, gain.gain, false, whitened, false, next);
        state = std::move(next);
    }
    played.state = std::move(state);
    return played;
}

}  // namespace

ResponseTree::ResponseTree(const ViewFilter& filter) : filter_(filter) {
    const ObservationModel& model = filter.model();
    const auto count = static_cast<std::size_t>(model.rounds);
    rounds_.resize(count);
    std::vector<MatrixXd> leaves(count);
    std::vector<MatrixXd> blind(count);
    for (std::size_t t = 0; t < count; ++t) {
        const Index before = model.at(static_cast<long>(t) * model.gossip_steps).transition.cols();
        Played played =
            play_round(filter, static_cast<long>(t), MatrixXd::Identity(before, before), {});
        leaves[t] = std::move(played.state);
        rounds_[t].seen = std::move(played.whitened);
        blind[t] = std::move(played.blind);
    }
    MatrixXd gramian = MatrixXd::Zero(leaves.back().rows(), leaves.back().rows());
    MatrixXd leak = gramian;
    for (std::size_t t = count; t-- > 0;) {
        const auto step_back = [&](const MatrixXd& after, const MatrixXd& seen) {
            MatrixXd before = product(leaves[t], true, product(after, false, leaves[t]));
            add_product(1, seen, true, seen, false, before);
            return before;
        };
        rounds_[t].gramian = gramian;
        gramian = step_back(gramian, rounds_[t].seen);
        // Nothing is stored if the noise covers everything from here on.
        if (leak.size() > 0 && leak.cwiseAbs().maxCoeff() > 0) rounds_[t].leak = leak;
        leak = step_back(leak, blind[t]);
    }
    std::size_t size = 1;
    while (size < 2 * count) size *= 2;
    carried_.resize(2 * size);
    build(1, 0, model.rounds, leaves);
}

void ResponseTree::build(std::size_t node, long begin, long end, std::vector<MatrixXd>& leaves) {
    if (end - begin == 1) {
        carried_[node] = std::move(leaves[static_cast<std::size_t>(begin)]);
        return;
    }
    const long middle = begin + (end - begin) / 2;
    build(2 * node, begin, middle, leaves);
    build(2 * node + 1, middle, end, leaves);
    if (node > 1) carried_[node] = product(carried_[2 * node + 1], false, carried_[2 * node]);
}

/// Column (t - begin) * targets + i belongs to round t and target i.
class ResponseTree::Walk {
  public:
    Walk(const ResponseTree& tree, std::span<const int> targets)
        : tree_(tree), targets_(targets), count_(static_cast<Index>(targets.size())) {
        const auto rounds = static_cast<Index>(tree.rounds_.size());
        result_.resize(targets.size());
        for (auto& target : result_) target.gram = MatrixXd::Zero(rounds, rounds);
    }

    std::vector<TargetGram> run() {
        visit(1, 0, static_cast<long>(tree_.rounds_.size()));
        const auto& input_scale = tree_.filter_.model().input_scale;
        const Eigen::Map<const Eigen::VectorXd> scale(input_scale.data(),
                                                      static_cast<Index>(input_scale.size()));
        for (auto& target : result_) {
            if (target.infinite)
                target.gram.resize(0, 0);
            else
                target.gram = scale.asDiagonal() * target.gram * scale.asDiagonal();
        }
        return std::move(result_);
    }

  private:
    struct Carried {
        MatrixXd inputs;  // responses at the end of the interval
        MatrixXd reads;   // y_t at its beginning
    };

    Carried leaf(std::size_t node, long t) {
        const Round& round = tree_.rounds_[static_cast<std::size_t>(t)];
        const ObservationModel& model = tree_.filter_.model();
        const LinearStep& step = model.at(t * model.gossip_steps);
        const double noise = model.noise_at(t * model.gossip_steps);
        Played played = play_round(tree_.filter_, t, {}, targets_);
        const MatrixXd later = product(round.gramian, false, played.state);
        MatrixXd leaked = MatrixXd::Zero(1, count_);
        if (played.blind.rows() > 0) leaked.row(0) += played.blind.colwise().squaredNorm();
        if (round.leak.size() > 0)
            leaked.row(0) +=
                played.state.cwiseProduct(product(round.leak, false, played.state)).colwise().sum();
        for (Index i = 0; i < count_; ++i) {
            auto& target = result_[static_cast<std::size_t>(i)];
            if (leaked(0, i) > seen_without_noise * seen_without_noise) target.infinite = true;
            target.gram(t, t) = played.whitened.col(i).squaredNorm() +
                                played.state.col(i).dot(later.col(i)) +
                                step.alone(targets_[static_cast<std::size_t>(i)]) / (noise * noise);
        }
        Carried carried;
        carried.reads = product(round.seen, true, played.whitened);
        add_product(1, tree_.carried_[node], true, later, false, carried.reads);
        carried.inputs = std::move(played.state);
        return carried;
    }

    Carried visit(std::size_t node, long begin, long end) {
        if (end - begin == 1) return leaf(node, begin);
        const long middle = begin + (end - begin) / 2;
        const Carried left = visit(2 * node, begin, middle);
        const Carried right = visit(2 * node + 1, middle, end);
        const Index state = left.inputs.rows();
        using Strided = Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>;
        const Eigen::OuterStride<> stride(state * count_);
        for (Index i = 0; i < count_ && state > 0; ++i) {
            auto& target = result_[static_cast<std::size_t>(i)];
            if (target.infinite) continue;
            const MatrixXd inputs =
                Strided(left.inputs.data() + i * state, state, middle - begin, stride);
            const MatrixXd reads =
                Strided(right.reads.data() + i * state, state, end - middle, stride);
            const MatrixXd block = product(inputs, true, reads);
            target.gram.block(begin, middle, block.rows(), block.cols()) = block;
            target.gram.block(middle, begin, block.cols(), block.rows()) = block.transpose();
        }
        Carried carried;
        if (node == 1) return carried;
        const MatrixXd inputs = product(tree_.carried_[2 * node + 1], false, left.inputs);
        carried.inputs.resize(inputs.rows(), inputs.cols() + right.inputs.cols());
        carried.inputs << inputs, right.inputs;
        const MatrixXd reads = product(tree_.carried_[2 * node], true, right.reads);
        carried.reads.resize(reads.rows(), reads.cols() + left.reads.cols());
        carried.reads << left.reads, reads;
        return carried;
    }

    const ResponseTree& tree_;
    std::span<const int> targets_;
    Index count_;
    std::vector<TargetGram> result_;
};

std::vector<TargetGram> ResponseTree::grams(std::span<const int> targets) const {
    if (targets.empty()) return {};
    return Walk(*this, targets).run();
}

}  // namespace sotto
