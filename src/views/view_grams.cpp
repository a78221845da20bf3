#include "views/view_grams.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "views/dense_temporal_grams.hpp"
#include "views/whole_run_grams.hpp"

namespace sotto {

namespace {

constexpr double most_whole_values = 6000;
constexpr double memory_of_tree = 1.5e9;  // bytes
/// A product with a sparse matrix takes several times as long as a dense one of that size.
constexpr double sparse_cost = 8;
/// With a packed one it takes about twice as long.
constexpr double packed_cost = 2;

}  // namespace

ViewGrams::ViewGrams(TemporalModel model)
    : temporal_(std::move(model)),
      size_(size_of(temporal_.model)),
      rounds_(static_cast<double>(temporal_.model.rounds)) {}

std::optional<std::vector<TargetGram>> ViewGrams::try_whole_run(
    std::span<const int> targets) const {
    if (temporal_.inverse.size() > 0) return std::nullopt;
    const ObservationModel& model = temporal_.model;
    const auto values = static_cast<double>(model.observed_values());
    const double count = reaching(targets);
    const double whole =
        values * values *
        (static_cast<double>(model.source_factors.front().cols()) + values / 3 + count * rounds_);
    const double a_round = sparse_cost * size_.entries + 2 * size_.state * size_.observed;
    const double responses =
        std::min(count * rounds_ * std::min(rounds_ / 2, 30.0) * a_round, adjoint_work(count));
    const double filter =
        rounds_ * size_.state * (1.5 * packed_cost * size_.entries + size_.state * size_.observed);
    if (whole > filter + responses || values > most_whole_values) return std::nullopt;
    return whole_run_grams(model, targets);
}

void ViewGrams::prepare(std::size_t targets) {
    if (temporal_.inverse.size() > 0) return;
    filter_ = std::make_unique<ViewFilter>(temporal_.model);
    const auto [state, observed, entries] = size_;
    const double t = rounds_;
    const double starts = rounds_before_steady();
    const auto count = static_cast<double>(targets);
    const double followed = count * (starts * t * (sparse_cost * entries + 2 * state * observed) +
                                     observed * starts * starts * t);
    const double halved =
        t * state * state * (4 * state + 4 * std::log2(t + 1) * count) + t * t * state * count;
    const bool tree_fits = 8 * 4 * t * state * state < memory_of_tree;
    if (adjoint_work(count) < std::min(followed, tree_fits ? halved : followed))
        adjoint_ = std::make_unique<AdjointGrams>(*filter_);
    else if (halved < followed && tree_fits)
        tree_ = std::make_unique<ResponseTree>(*filter_);
}

std::vector<TargetGram> ViewGrams::grams(std::span<const int> targets) const {
    if (temporal_.inverse.size() > 0)
        return dense_temporal_grams(temporal_.model, temporal_.inverse, targets);
    if (adjoint_) return adjoint_->grams(targets);
    return tree_ ? tree_->grams(targets) : target_grams(*filter_, targets);
}

double ViewGrams::bytes_of_a_target() const {
    if (adjoint_) return 8 * rounds_ * size_.observed;
    if (tree_) return 8 * 6 * rounds_ * size_.state;
    if (!filter_) return 0;
    const double starts = rounds_before_steady();
    return 8 * starts *
           (3 * size_.state + size_.observed * std::min(rounds_ - starts, 4 * starts + 50) * 2);
}

ViewGrams::Size ViewGrams::size_of(const ObservationModel& model) {
    Size size;
    size.state = static_cast<double>(model.state_size());
    const double steps = model.gossip_steps;
    for (const LinearStep& step : model.steps) {
        size.observed =
            std::max(size.observed, static_cast<double>(step.observation.rows()) * steps);
        size.entries =
            std::max(size.entries, static_cast<double>(step.transition.nonZeros()) * steps);
    }
    return size;
}

/// Targets whose input the state, or an observation that depends on it, feels at all.
double ViewGrams::reaching(std::span<const int> targets) const {
    std::vector<bool> felt(
        static_cast<std::size_t>(temporal_.model.steps.front().state_input.cols()), false);
    for (const auto& step : temporal_.model.steps)
        for (const SparseRows* input : {&step.state_input, &step.observed_input})
            for (Eigen::Index row = 0; row < input->rows(); ++row)
                for (SparseRows::InnerIterator it(*input, row); it; ++it)
                    felt[static_cast<std::size_t>(it.col())] = true;
    return static_cast<double>(std::count_if(
        targets.begin(), targets.end(), [&](int u) { return felt[static_cast<std::size_t>(u)]; }));
}

/// Rounds whose inputs are followed one by one.
double ViewGrams::rounds_before_steady() const {
    return static_cast<double>(std::min(filter_->steady_round() + 1, temporal_.model.rounds));
}

/// Of AdjointGrams, which starts again for every block of targets that fits into memory.
double ViewGrams::adjoint_work(double targets) const {
    const auto [state, observed, entries] = size_;
    const double starts =
        std::ceil(targets * (bytes_of_a_gram(rounds_) + 8 * rounds_ * observed) / memory_of_grams);
    return rounds_ * rounds_ * observed *
           (starts * (packed_cost * entries + state * observed) / 2 + targets * rounds_ / 6);
}

}  // namespace sotto
