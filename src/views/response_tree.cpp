#include "views/response_tree.hpp"

#include "sotto/core/linear_algebra.hpp"
#include "sotto/views/squared_sensitivity.hpp"
#include "views/dense_matrices.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// One round from the state before it (columns) to the state after it.
struct Played {
    MatrixXd state;     // after the round
    MatrixXd whitened;  // of all its gossip steps
    MatrixXd blind;     // innovations that the noise does not cover
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
        // Nothing is stored where the noise covers everything from here on.
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
        MatrixXd inputs;  // responses, at the end of the stretch
        MatrixXd reads;   // y_t, at its beginning
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
