#include "noise/noise_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "core/weighted_sum.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

struct RoundGate::State {
    const char* subject;
    pid_t process = getpid();
    std::atomic<bool> taken = false;
    std::optional<std::pair<std::uint32_t, std::uint64_t>> last = std::nullopt;
};

RoundGate::RoundGate(const char* subject) : state_(std::make_unique<State>(subject)) {}
RoundGate::RoundGate(RoundGate&&) noexcept = default;
RoundGate& RoundGate::operator=(RoundGate&&) noexcept = default;
RoundGate::~RoundGate() = default;

bool RoundGate::in_its_process() const noexcept { return state_ && state_->process == getpid(); }

void RoundGate::Leave::operator()(State* state) const noexcept { state->taken = false; }

RoundGate::Stay RoundGate::enter() const {
    if (!state_) throw PrivacyError("a gate of rounds that was moved from cannot be used");
    if (const pid_t here = getpid(); here != state_->process)
        throw PrivacyError(
            fmt::format("{}: process {} is not allowed ({}, which made it: a process that was "
                        "forked has the same keys and would draw the same noise; fork first, then "
                        "make it)",
                        state_->subject,
                        here,
                        state_->process));
    if (state_->taken.exchange(true))
        throw PrivacyError(
            fmt::format("{}: a call is not allowed while another one is under way (one at a time, "
                        "by one thread, and not from the function that computes gradients or "
                        "losses)",
                        state_->subject));
    return Stay(state_.get());
}

void RoundGate::begin(std::uint32_t epoch, std::uint64_t round) {
    const std::pair asked(epoch, round);
    if (state_->last && asked <= *state_->last)
        throw PrivacyError(
            fmt::format("{}: round {} of key epoch {} is not allowed (above round {} of key epoch "
                        "{}: noise is drawn once, or the difference of two messages would be "
                        "without any)",
                        state_->subject,
                        round,
                        epoch,
                        state_->last->second,
                        state_->last->first));
    state_->last = asked;
}

namespace {

constexpr Eigen::Index tile_bytes = 1 << 20;       // a core's share of the second-level cache
constexpr Eigen::Index parallel_values = 1 << 15;  // below this, threads cost more than they save

constexpr std::int64_t past_tile_bytes = std::int64_t{64} << 20;  // of past noise drawn again

constexpr Eigen::Index rounds_ahead = 8;        // whose sums over the past are made at once
constexpr Eigen::Index coordinates_ahead = 64;  // of all lags, in the second-level cache

}  // namespace

NoiseSource::NoiseSource(const NoisePlan& plan,
                         std::span<const KeyRing> rings,
                         int threads,
                         std::int64_t most_past_bytes)
    : most_past_bytes_(most_past_bytes),
      laplace_(plan.distribution() == StreamDistribution::laplace),
      grid_step_(plan.grid_step()),
      threads_(threads) {
    std::map<int, int> column_of;  // stream of the plan -> streams_
    for (std::size_t a = 0; a < rings.size(); ++a) {
        const std::size_t first_output = outputs_.size();
        for (const auto& row :
             std::ranges::equal_range(plan.rows, rings[a].agent(), {}, &NoiseRow::sender)) {
            outputs_.push_back({a, row.receiver});
            Combination& combination = combinations_.emplace_back();
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                const auto& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
                const auto [position, fresh] =
                    column_of.try_emplace(row.streams[j], static_cast<int>(streams_.size()));
                if (fresh) streams_.emplace_back(rings[a].stream_key(stream.group, stream.index));
                combination.columns.push_back(position->second);
                combination.weights.push_back(row.coefficients[j] * plan.scale);
            }
        }
        if (outputs_.size() == first_output) {
            outputs_.push_back({a, NoiseRow::all_receivers});
            combinations_.emplace_back();
        }
    }
    sums_.resize(outputs_.size());
    if (plan.temporal.kind == TemporalFactor::Kind::identity) return;
    rounds_ = static_cast<std::uint64_t>(plan.temporal.lower.rows());
    temporal_ = lagged_noise(
        plan.temporal, static_cast<long>(rounds_), static_cast<int>(plan.temporal.lower.rows()));
    history_.resize(outputs_.size());
}

void NoiseSource::WeightedColumns::clear() {
    values.clear();
    weights.clear();
}

void NoiseSource::WeightedColumns::add(const double* column, double weight) {
    values.push_back(column);
    weights.push_back(weight);
}

void NoiseSource::WeightedColumns::write(std::span<double> out) const {
    weighted_sum(values, weights, out);
}

bool NoiseSource::sums_ahead(Eigen::Index dimension) const {
    return keeps_past(dimension) && temporal_.lags >= 4 * rounds_ahead;
}

bool NoiseSource::draws_past_again(Eigen::Index dimension) const {
    return temporal_.lags > 0 && !temporal_.remembers_noise &&
           static_cast<std::int64_t>(outputs_.size()) * temporal_.lags * dimension *
                   static_cast<std::int64_t>(sizeof(double)) >
               most_past_bytes_;
}

Eigen::Index NoiseSource::tile_size(Eigen::Index dimension) const {
    constexpr auto block = static_cast<Eigen::Index>(normal_block);
    constexpr auto value = static_cast<Eigen::Index>(sizeof(double));
    Eigen::Index fitting =
        tile_bytes / value / std::max<Eigen::Index>(1, static_cast<Eigen::Index>(streams_.size()));
    if (draws_past_again(dimension))
        fitting = std::min<Eigen::Index>(
            fitting,
            past_tile_bytes / value / temporal_.lags / static_cast<Eigen::Index>(outputs_.size()));
    const Eigen::Index tile = std::max(block, fitting / block * block);
    return std::min(tile, (dimension + block - 1) / block * block);
}

std::int64_t NoiseSource::memory_bytes(Eigen::Index dimension) const {
    const auto outputs = static_cast<std::int64_t>(outputs_.size());
    const std::int64_t tile = tile_size(dimension);
    const std::int64_t past = draws_past_again(dimension) ? tile : dimension;
    const std::int64_t kept = temporal_.lags + (sums_ahead(dimension) ? rounds_ahead : 0);
    return (static_cast<std::int64_t>(streams_.size()) * tile + outputs * kept * past) *
           static_cast<std::int64_t>(sizeof(double));
}

void NoiseSource::draw(std::uint32_t epoch,
                       std::uint64_t round,
                       Eigen::Ref<Eigen::MatrixXd> noise) {
    const RoundGate::Stay stay = gate_.enter();
    begin_round(epoch, round, noise.rows());
    while (next_piece(noise)) {
    }
}

void NoiseSource::begin(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension) {
    const RoundGate::Stay stay = gate_.enter();
    begin_round(epoch, round, dimension);
}

bool NoiseSource::draw_piece(Eigen::Ref<Eigen::MatrixXd> noise) {
    const RoundGate::Stay stay = gate_.enter();
    return next_piece(noise);
}

void NoiseSource::begin_round(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension) {
    if (rounds_ > 0 && round >= rounds_)
        throw PrivacyError(fmt::format(
            "round {} has no noise: the plan's temporal factor covers {} rounds", round, rounds_));
    gate_.begin(epoch, round);
    matrix_ = nullptr;
    round_ = last_round_ = round;
    // An unfinished round has overwritten part of the past it needs.
    const bool whole = std::exchange(next_coordinate_, 0) == 0;
    const bool goes_on = whole && epoch == epoch_ && round == next_round_;
    epoch_ = epoch;
    ahead_.resize(sums_ahead(dimension) ? outputs_.size() : 0);
    for (auto& ahead : ahead_) ahead.resize(dimension, rounds_ahead);
    if (!keeps_past(dimension)) return;
    if (!goes_on) next_round_ = 0;
    for (auto& past : history_)
        if (past.rows() != dimension) {
            past.setZero(dimension, temporal_.lags);
            next_round_ = 0;
        }
    round_ = next_round_;
}

bool NoiseSource::next_piece(Eigen::Ref<Eigen::MatrixXd> noise) {
    if (round_ > last_round_) return false;
    if (matrix_ == nullptr) matrix_ = noise.data();
    if (matrix_ != noise.data())
        throw PrivacyError(fmt::format(
            "round {}: its noise goes into one matrix, and another one was given", last_round_));
    if (streams_.empty()) {
        noise.setZero();
        ++round_;
        return false;
    }
    next_coordinate_ += draw_tile(round_, next_coordinate_, noise);
    if (next_coordinate_ < noise.rows()) return true;
    next_coordinate_ = 0;
    next_round_ = round_ + 1;
    return round_++ < last_round_;
}

void NoiseSource::add_past(std::size_t output,
                           Eigen::Index round,
                           Eigen::Index from,
                           Eigen::Index end,
                           Eigen::Index first) {
    const Eigen::MatrixXd& past = history_[output];
    for (Eigen::Index s = std::max(from, round - temporal_.lags); s < end; ++s)
        sums_[output].add(past.col(s % temporal_.lags).data() + first,
                          temporal_.past(round, round - s - 1));
}

void NoiseSource::sum_ahead(std::size_t output,
                            Eigen::Index begun,
                            Eigen::Index first,
                            Eigen::Index count) {
    WeightedColumns& past = sums_[output];
    past.clear();
    add_past(output, begun, 0, begun, first);
    const auto rounds = std::min(rounds_ahead, static_cast<Eigen::Index>(rounds_) - begun);
    std::vector<std::vector<double>> weights(static_cast<std::size_t>(rounds));
    for (Eigen::Index ahead = 0; ahead < rounds; ++ahead)
        for (Eigen::Index lag = std::min(begun + ahead, Eigen::Index{temporal_.lags}); lag > ahead;
             --lag)
            weights[static_cast<std::size_t>(ahead)].push_back(
                temporal_.past(begun + ahead, lag - 1));
    for (Eigen::Index done = 0; done < count; done += coordinates_ahead) {
        const auto size = static_cast<std::size_t>(std::min(coordinates_ahead, count - done));
        for (Eigen::Index ahead = 0; ahead < rounds; ++ahead) {
            const auto& of_round = weights[static_cast<std::size_t>(ahead)];
            weighted_sum(std::span(past.values).last(of_round.size()),
                         of_round,
                         {ahead_[output].col(ahead).data() + first + done, size});
        }
        for (const double*& column : past.values) column += size;
    }
}

void NoiseSource::correlate(std::size_t output,
                            std::uint64_t round,
                            Eigen::Index first,
                            std::span<double> values) {
    const auto t = static_cast<Eigen::Index>(round);
    const Eigen::Index begun = ahead_.empty() ? 0 : t / rounds_ahead * rounds_ahead;
    if (begun > 0 && t == begun) sum_ahead(output, begun, first, std::ssize(values));
    WeightedColumns& sum = sums_[output];
    sum.clear();
    if (begun > 0) sum.add(ahead_[output].col(t - begun).data() + first, 1);
    add_past(output, t, begun, t, first);
    sum.add(values.data(), temporal_.fresh(t));
    const std::span<double> result(correlated_.col(static_cast<Eigen::Index>(output)).data(),
                                   values.size());
    sum.write(result);
    if (temporal_.lags > 0)
        std::ranges::copy(temporal_.remembers_noise ? std::span<const double>(result) : values,
                          history_[output].col(t % temporal_.lags).data() + first);
    std::ranges::copy(result, values.begin());
}

void NoiseSource::fill(const NormalStream& stream,
                       std::uint32_t epoch,
                       std::uint64_t round,
                       std::uint64_t first,
                       std::span<double> out) const {
    if (!laplace_) {
        stream.fill(epoch, round, first, out);
        return;
    }
    constexpr std::size_t normals = 4;  // of one Laplace variable
    constexpr std::size_t at_once = 256;
    static_assert(normals * at_once % normal_block == 0);
    std::array<double, normals * at_once> z;
    for (std::size_t begin = 0; begin < out.size(); begin += at_once) {
        const std::size_t count = std::min(at_once, out.size() - begin);
        stream.fill(epoch, round, normals * (first + begin), std::span(z).first(normals * count));
        for (std::size_t i = 0; i < count; ++i) {
            const double* of_one = z.data() + normals * i;
            out[begin + i] = of_one[0] * of_one[1] - of_one[2] * of_one[3];
        }
    }
}

void NoiseSource::draw_fresh(std::uint32_t epoch,
                             std::uint64_t round,
                             Eigen::Index first,
                             Eigen::Ref<Eigen::MatrixXd> out) {
    const auto streams = static_cast<Eigen::Index>(streams_.size());
    const auto count = static_cast<std::size_t>(out.rows());
    const int threads = streams * bank_.rows() >= parallel_values ? threads_ : 1;
    parallel_for(streams, threads, [&](long k) {
        fill(streams_[static_cast<std::size_t>(k)],
             epoch,
             round,
             static_cast<std::uint64_t>(first),
             {bank_.col(k).data(), count});
    });
    parallel_for(out.cols(), threads, [&](long o) {
        const auto& combination = combinations_[static_cast<std::size_t>(o)];
        WeightedColumns& sum = sums_[static_cast<std::size_t>(o)];
        sum.clear();
        for (std::size_t j = 0; j < combination.columns.size(); ++j)
            sum.add(bank_.col(combination.columns[j]).data(), combination.weights[j]);
        sum.write({out.col(o).data(), count});
    });
}

Eigen::Index NoiseSource::draw_tile(std::uint64_t round,
                                    Eigen::Index first,
                                    Eigen::Ref<Eigen::MatrixXd> noise) {
    const Eigen::Index dimension = noise.rows();
    const Eigen::Index tile = tile_size(dimension);
    const auto streams = static_cast<Eigen::Index>(streams_.size());
    if (bank_.rows() != tile) bank_.resize(tile, streams);
    if (rounds_ > 0 && correlated_.rows() != tile) correlated_.resize(tile, noise.cols());
    const bool again = draws_past_again(dimension);
    if (again && past_.rows() != tile) {
        past_.resize(tile, noise.cols());
        for (auto& past : history_) past.resize(tile, temporal_.lags);
    }
    const auto lags = static_cast<std::uint64_t>(temporal_.lags);
    const int threads = streams * tile >= parallel_values ? threads_ : 1;
    const Eigen::Index count = std::min(tile, dimension - first);
    if (again)
        for (std::uint64_t s = round - std::min(round, lags); s < round; ++s) {
            draw_fresh(epoch_, s, first, past_.topRows(count));
            for (Eigen::Index o = 0; o < noise.cols(); ++o)
                history_[static_cast<std::size_t>(o)]
                    .col(static_cast<Eigen::Index>(s % lags))
                    .head(count) = past_.col(o).head(count);
        }
    draw_fresh(epoch_, round, first, noise.middleRows(first, count));
    parallel_for(noise.cols(), threads, [&](long o) {
        const std::span<double> out(noise.col(o).data() + first, static_cast<std::size_t>(count));
        if (rounds_ > 0) correlate(static_cast<std::size_t>(o), round, again ? 0 : first, out);
        round_to_grid(out, grid_step_);
    });
    return count;
}

void round_to_grid(std::span<double> values, double grid_step) {
    // Adding 1.5 * 2^52 steps leaves no room for bits below one step: the sum is rounded to
    // nearest.
    const double shift = 6755399441055744.0 * grid_step;
    for (double& value : values) value = (value + shift) - shift;
}

void round_message_to_grid(std::span<double> values, double grid_step) {
    // As above; the sum stays below 2^53 steps, and values from 2^52 steps on have no bits below
    // one step.
    const double shift = 0x1p52 * grid_step;
    for (double& value : values) {
        const double signed_shift = std::copysign(shift, value);
        const double rounded = (value + signed_shift) - signed_shift;
        value = std::abs(value) < shift ? rounded : value;
    }
}

void truncate_to_grid(std::span<double> values, double grid_step) {
    const double inverse = 1 / grid_step;  // exact: a power of two
    for (double& value : values) value = std::trunc(value * inverse) * grid_step;
}

}  // namespace sotto
