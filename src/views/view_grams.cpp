#include "views/view_grams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_filter.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

AllMessages::AllMessages(const MessageProcess& process,
                         const ProcessRounds& where,
                         const View& view,
                         const Participation& participation)
    : process_(process), where_(where) {
    const auto patterns = participation_patterns(where.training, participation);
    time_sums_.resize(patterns.size());
    for (const NoiseStretch& stretch : where.stretches) {
        precisions_.push_back(observed_precision(*stretch.plan, {view.members}));
        const MatrixXd gram = time_gram(stretch);
        for (std::size_t p = 0; p < patterns.size(); ++p)
            time_sums_[p].push_back(pair_sums(stretch, gram, patterns[p]));
    }
}

double AllMessages::squared_sensitivity(int target) const {
    double largest = 0;
    for (const auto& stretches : time_sums_) {
        double sum = 0;
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            double mine = 0;
            for (const PairSum& pair : stretches[i])
                if (is_there(pair.first, target) && is_there(pair.second, target))
                    mine += pair.value;
            if (mine > 0) sum += precisions_[i](target) * mine;
        }
        largest = std::max(largest, sum);
    }
    return largest;
}

TargetGram AllMessages::gram(int target) const {
    const auto rounds = static_cast<Index>(where_.phase.size());
    TargetGram result;
    VectorXd there(rounds);
    for (Index t = 0; t < rounds; ++t)
        there(t) = is_there(where_.phase[static_cast<std::size_t>(t)], target) ? 1.0 : 0.0;
    result.gram = MatrixXd::Zero(rounds, rounds);
    for (std::size_t i = 0; i < where_.stretches.size(); ++i) {
        const NoiseStretch& stretch = where_.stretches[i];
        const auto mine = there.segment(stretch.begin, stretch.rounds);
        if (mine.isZero(0)) continue;
        const double precision = precisions_[i](target);
        if (!std::isfinite(precision)) return {true, {}};
        result.gram.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
            precision * mine.asDiagonal() * time_gram(stretch) * mine.asDiagonal();
    }
    return result;
}

bool AllMessages::is_there(int phase, int agent) const {
    return !process_.phases[static_cast<std::size_t>(phase)].has_departed(agent);
}

/// One round's noise in units of the target's input: the step size if noise does not scale with it.
VectorXd AllMessages::input_scale(const NoiseStretch& stretch) const {
    if (process_.plan->entry != NoiseEntry::message || process_.step_sizes.empty())
        return VectorXd::Ones(stretch.rounds);
    return Eigen::Map<const VectorXd>(process_.step_sizes.data() + stretch.begin, stretch.rounds);
}

/// C_time^T C_time of a stretch.
MatrixXd AllMessages::time_gram(const NoiseStretch& stretch) const {
    MatrixXd gram = time_factor(stretch);
    if (stretch.plan->temporal.kind != TemporalFactor::Kind::identity)
        gram = MatrixXd(gram.transpose() * gram);
    const VectorXd scale = input_scale(stretch);
    return scale.asDiagonal() * gram * scale.asDiagonal();
}

/// Sums of |C_time^T C_time| over the rounds of a pattern, by pairs of phases.
std::vector<AllMessages::PairSum> AllMessages::pair_sums(const NoiseStretch& stretch,
                                                         const MatrixXd& gram,
                                                         const std::vector<Index>& pattern) const {
    std::map<int, std::vector<Index>> rounds;  // of the stretch, by phase
    for (const Index t : pattern)
        if (t >= stretch.begin && t < stretch.begin + stretch.rounds)
            rounds[where_.phase[static_cast<std::size_t>(t)]].push_back(t - stretch.begin);
    std::vector<PairSum> sums;
    for (const auto& [first, rows] : rounds)
        for (const auto& [second, columns] : rounds)
            sums.push_back({first,
                            second,
                            std::ssize(rows) == gram.rows()
                                ? gram.cwiseAbs().sum()
                                : MatrixXd(gram(rows, columns)).cwiseAbs().sum()});
    return sums;
}

namespace {

/// Whether whitening all observations at once is cheaper than past noise in the state.
/// @param model without past noise.
bool whitening_at_once_is_less_work(const ObservationModel& model,
                                    const std::vector<LaggedNoise>& noises,
                                    const ProcessRounds& where) {
    double draws = 0, remembered = 0;
    for (std::size_t i = 0; i < noises.size(); ++i) {
        const auto sources = static_cast<double>(model.source_factors[i].rows());
        draws += sources * static_cast<double>(where.stretches[i].rounds);
        remembered = std::max(remembered, noises[i].lags * sources);
    }
    const double state = static_cast<double>(model.state_size()) + remembered;
    const auto values = static_cast<double>(model.observed_values());
    const auto t = static_cast<double>(model.rounds);
    const double whole = values * values * (values / 3 + draws);
    const double filtered = state * state * (4 * values + 20 * t * model.gossip_steps);
    return filtered > whole;
}

MatrixXd inverse_time_factor(const ProcessRounds& where, long rounds) {
    MatrixXd inverse = MatrixXd::Zero(rounds, rounds);
    for (const NoiseStretch& stretch : where.stretches)
        inverse.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
            time_factor(stretch).triangularView<Eigen::Lower>().solve(
                MatrixXd::Identity(stretch.rounds, stretch.rounds));
    return inverse;
}

}  // namespace

TemporalModel make_temporal_model(const MessageProcess& process,
                                  const ProcessRounds& where,
                                  const View& view) {
    std::vector<LaggedNoise> noises, plain;
    int lags = 0;
    for (const NoiseStretch& stretch : where.stretches) {
        noises.push_back(
            lagged_noise(stretch.plan->temporal, stretch.rounds, static_cast<int>(stretch.rounds)));
        plain.push_back(lagged_noise({}, stretch.rounds, 0));
        plain.back().independent_rounds = false;
        lags = std::max(lags, noises.back().lags);
    }
    if (lags > 0) {
        ObservationModel model = make_observation_model(process, view, plain);
        if (whitening_at_once_is_less_work(model, noises, where)) {
            MatrixXd inverse = inverse_time_factor(where, model.rounds);
            return {std::move(model), std::move(inverse)};
        }
    }
    return {make_observation_model(process, view, noises), {}};
}

namespace {

constexpr double most_whole_values = 6000;
constexpr double memory_of_tree = 1.5e9;  // bytes
/// A product with a sparse matrix takes several times as long as a dense one of that size.
constexpr double sparse_cost = 8;
/// With packed rows about twice as long.
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

/// Targets whose input reaches the state, or an observation that depends on it.
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

/// Rounds whose inputs are followed individually.
double ViewGrams::rounds_before_steady() const {
    return static_cast<double>(std::min(filter_->steady_round() + 1, temporal_.model.rounds));
}

/// Of AdjointGrams, which restarts for every block of targets that fits into memory.
double ViewGrams::adjoint_work(double targets) const {
    const auto [state, observed, entries] = size_;
    const double starts =
        std::ceil(targets * (bytes_of_a_gram(rounds_) + 8 * rounds_ * observed) / memory_of_grams);
    return rounds_ * rounds_ * observed *
           (starts * (packed_cost * entries + state * observed) / 2 + targets * rounds_ / 6);
}

namespace {

bool equal(const SparseRows& a, const SparseRows& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    return a.rows() == 0 || SparseRows(a - b).squaredNorm() == 0;
}

/// The step of every round after the first, if all are the same and the first differs only in
/// having no state before it; something must depend on the state.
const LinearStep* repeated_step(const ObservationModel& model) {
    if (model.gossip_steps != 1 || model.rounds < 2 || model.source_factors.size() != 1)
        return nullptr;
    for (std::size_t t = 2; t < model.step_at.size(); ++t)
        if (model.step_at[t] != model.step_at[1]) return nullptr;
    for (const double scale : model.noise_scale)
        if (scale != model.noise_scale.front()) return nullptr;
    const LinearStep& first = model.at(0);
    const LinearStep& step = model.at(1);
    if (step.conditioned || step.observation.rows() == 0 || first.observation.rows() != 0 ||
        !equal(first.state_source, step.state_source) ||
        !equal(first.state_input, step.state_input))
        return nullptr;
    return &step;
}

/// Observations j rounds after unit noise (rows: sources) and unit inputs (rows: targets), in
/// columns j * observed and on.
struct ImpulseResponses {
    MatrixXd to_noise, to_input;
};

/// By adjoints of the few observed rows.
ImpulseResponses adjoint_responses(const ObservationModel& model,
                                   const LinearStep& step,
                                   std::span<const int> targets) {
    const Index observed = step.observation.rows();
    const auto rounds = static_cast<Index>(model.rounds);
    const auto count = static_cast<Index>(targets.size());
    const Eigen::SparseMatrix<double>& source_factor = model.source_factors.front();
    ImpulseResponses responses{MatrixXd(source_factor.cols(), observed * rounds),
                               MatrixXd(count, observed * rounds)};
    const SparseRows factor = SparseRows(source_factor.transpose());
    const SparseRows state_source = factor * SparseRows(step.state_source.transpose());
    const SparseRows state_input = SparseRows(step.state_input.transpose());
    const SparseRows backward = SparseRows(step.transition.transpose());
    const auto of_targets = [&](const MatrixXd& of_agents) {
        MatrixXd chosen(count, of_agents.cols());
        for (Index i = 0; i < count; ++i)
            chosen.row(i) = of_agents.row(targets[static_cast<std::size_t>(i)]);
        return chosen;
    };
    responses.to_noise.leftCols(observed) =
        factor * MatrixXd(SparseRows(step.observed_source.transpose()));
    responses.to_input.leftCols(observed) =
        of_targets(MatrixXd(SparseRows(step.observed_input.transpose())));
    MatrixXd adjoint = MatrixXd(SparseRows(step.observation.transpose()));
    for (Index j = 1; j < rounds; ++j) {
        responses.to_noise.middleCols(j * observed, observed) = state_source * adjoint;
        responses.to_input.middleCols(j * observed, observed) = of_targets(state_input * adjoint);
        adjoint = MatrixXd(backward * adjoint);
    }
    return responses;
}

/// Cholesky factor of the covariance of all observed values except those of the first round, which
/// stand alone; nothing if singular.
std::optional<MatrixXd> covariance_factor(const MatrixXd& to_noise,
                                          Index observed,
                                          Index rounds,
                                          double noise) {
    // Covariance of rounds k and l: sum over noise of rounds s <= min(k, l).
    MatrixXd all = MatrixXd::Zero(observed * rounds, observed * rounds);
    add_gram(to_noise, all);
    for (Index l = 1; l < rounds; ++l)
        for (Index k = l; k < rounds; ++k)
            all.block(k * observed, l * observed, observed, observed) +=
                all.block((k - 1) * observed, (l - 1) * observed, observed, observed);
    const Index values = observed * (rounds - 1);
    MatrixXd lower = noise * all.bottomRightCorner(values, values);
    all.resize(0, 0);
    const double largest = values > 0 ? lower.diagonal().maxCoeff() : 0;
    if (!cholesky(lower)) return std::nullopt;
    if (values > 0 && !(lower.diagonal().cwiseAbs2().minCoeff() > 1e-7 * largest))
        return std::nullopt;
    return lower;
}

/// @param response of one target to a unit input.
MatrixXd gram_of(const Eigen::RowVectorXd& response,
                 const MatrixXd& lower,
                 Index observed,
                 Index rounds) {
    MatrixXd gram = MatrixXd::Zero(rounds, rounds);
    if (lower.rows() == 0 || !(response.cwiseAbs().maxCoeff() > 0)) return gram;
    MatrixXd inputs = MatrixXd::Zero(lower.rows(), rounds);
    for (Index s = 0; s < rounds; ++s)
        for (Index k = std::max<Index>(s, 1); k < rounds; ++k)
            inputs.col(s).segment((k - 1) * observed, observed) =
                response.segment((k - s) * observed, observed).transpose();
    solve_lower(lower, inputs);
    add_product(1, inputs, true, inputs, false, gram);
    return gram;
}

}  // namespace

std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                       std::span<const int> targets) {
    const LinearStep* const step = repeated_step(model);
    if (step == nullptr) return std::nullopt;
    const Index observed = step->observation.rows();
    const auto rounds = static_cast<Index>(model.rounds);
    const double noise = model.noise_scale.front() * model.noise_scale.front();
    const ImpulseResponses responses = adjoint_responses(model, *step, targets);
    const std::optional<MatrixXd> lower =
        covariance_factor(responses.to_noise, observed, rounds, noise);
    if (!lower) return std::nullopt;
    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), rounds);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        MatrixXd gram =
            gram_of(responses.to_input.row(static_cast<Index>(i)), *lower, observed, rounds);
        gram(0, 0) += model.at(0).alone(targets[i]) / noise;
        gram.diagonal().tail(rounds - 1).array() += step->alone(targets[i]) / noise;
        result[i].gram = scale.asDiagonal() * gram * scale.asDiagonal();
    }
    return result;
}

namespace {

constexpr long most_observed_values = 12000;

/// Stacked observations of all rounds when `input(round)` times the columns of `state_input(step)`
/// and `observed_input(step)` enters every round from `start` on.
template <class Factor, class StateInput, class ObservedInput>
MatrixXd played(const ObservationModel& model,
                long start,
                Index columns,
                Factor&& factor,
                StateInput&& state_input,
                ObservedInput&& observed_input) {
    MatrixXd all = MatrixXd::Zero(model.observed_values(), columns);
    Index row = 0;
    MatrixXd state;
    for (long time = 0; time < model.rounds * model.gossip_steps; ++time) {
        const LinearStep& step = model.at(time);
        const long round = time / model.gossip_steps;
        if (round >= start) {
            if (time == start * model.gossip_steps)
                state = MatrixXd::Zero(step.transition.cols(), columns);
            MatrixXd seen = step.observation * state;
            MatrixXd next = step.transition * state;
            const double weight = time % model.gossip_steps == 0 ? factor(round) : 0.0;
            if (weight != 0) {
                seen += weight * observed_input(step);
                next += weight * state_input(step);
            }
            all.middleRows(row, seen.rows()) = seen;
            state = std::move(next);
        }
        row += step.observation.rows();
    }
    return all;
}

/// source_factor of every stretch, with no more columns than rows.
std::vector<MatrixXd> thin_source_factors(const ObservationModel& model) {
    std::vector<MatrixXd> halves;
    for (const auto& factor : model.source_factors) {
        MatrixXd& half = halves.emplace_back(factor);
        if (half.cols() <= half.rows()) continue;
        const SymmetricEigen eigen = symmetric_eigen(half * half.transpose());
        half = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
    }
    return halves;
}

/// Covariance of all observed values, from the noise of every round.
MatrixXd observed_covariance(const ObservationModel& model, const MatrixXd& inverse) {
    const long values = model.observed_values();
    const std::vector<MatrixXd> halves = thin_source_factors(model);
    MatrixXd covariance = MatrixXd::Zero(values, values);
    for (long source = 0; source < model.rounds; ++source) {
        const MatrixXd& half =
            halves[static_cast<std::size_t>(model.stretch_at[static_cast<std::size_t>(source)])];
        if (half.cols() == 0) continue;
        const MatrixXd response = played(
            model,
            source,
            half.cols(),
            [&](long round) {
                return inverse(round, source) * model.noise_scale[static_cast<std::size_t>(round)];
            },
            [&](const LinearStep& step) -> MatrixXd { return step.state_source * half; },
            [&](const LinearStep& step) -> MatrixXd { return step.observed_source * half; });
        add_gram(response.transpose(), covariance);
    }
    covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
    return covariance;
}

/// Response of all observed values to a unit input of the target in every round (columns).
MatrixXd observed_inputs(const ObservationModel& model, int target) {
    const MatrixXd unit = Eigen::VectorXd::Unit(model.steps.front().state_input.cols(), target);
    MatrixXd inputs(model.observed_values(), model.rounds);
    for (long start = 0; start < model.rounds; ++start)
        inputs.col(start) = played(
            model,
            start,
            1,
            [&](long round) { return round == start ? 1.0 : 0.0; },
            [&](const LinearStep& step) -> MatrixXd { return step.state_input * unit; },
            [&](const LinearStep& step) -> MatrixXd { return step.observed_input * unit; });
    return inputs;
}

}  // namespace

std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                             const MatrixXd& inverse,
                                             std::span<const int> targets) {
    const long values = model.observed_values();
    if (values > most_observed_values)
        throw ConfigError(
            fmt::format("temporal factor: neither it nor its inverse is banded, and the observer "
                        "sees {} values; "
                        "at most {} can be accounted for (use fewer rounds or a banded factor)",
                        values,
                        most_observed_values));
    const MatrixXd covariance = observed_covariance(model, inverse);
    const Whitening whitening =
        whiten(covariance, values > 0 ? variance_rounding * covariance.diagonal().maxCoeff() : 0.0);
    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), model.rounds);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const MatrixXd inputs = observed_inputs(model, targets[i]);
        result[i].infinite = whitening.shows_without_noise(inputs);
        if (result[i].infinite) continue;
        const MatrixXd white = whitening.rows * inputs;
        result[i].gram = scale.asDiagonal() * (white.transpose() * white) * scale.asDiagonal();
    }
    return result;
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, bool transpose_a, const Eigen::MatrixXd& b) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(transpose_a ? a.cols() : a.rows(), b.cols());
    add_product(1, a, transpose_a, b, false, out);
    return out;
}

void append_rows(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rows) {
    const Eigen::Index before = matrix.rows();
    matrix.conservativeResize(before + rows.rows(), rows.cols());
    matrix.bottomRows(rows.rows()) = rows;
}

double largest_entry(const Eigen::MatrixXd& matrix) {
    return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff();
}

}  // namespace sotto
