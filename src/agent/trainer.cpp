#include "sotto/agent/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "clipping.hpp"
#include "sotto/agent/grid.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/core/weighted_sum.hpp"

namespace sotto {

namespace {

/// weighted_sum over the columns that are there.
void weighted_sum_of_heard(std::span<const double* const> columns,
                           std::span<const double> weights,
                           std::span<double> result) {
    std::vector<const double*> heard;
    std::vector<double> their_weights;
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (columns[j] != nullptr) {
            heard.push_back(columns[j]);
            their_weights.push_back(weights[j]);
        }
    weighted_sum(heard, their_weights, result);
}

}  // namespace

Trainer::Trainer(Network& network,
                 const MixingSchedule& mixing,
                 const NoisePlan& plan,
                 NoiseSource noise,
                 std::vector<LocalAgent> agents,
                 const Eigen::VectorXd& initial,
                 TrainerOptions options)
    : network_(network),
      mixing_(mixing),
      trusted_mean_(plan.aggregation == Aggregation::trusted_mean),
      entry_(plan.entry),
      l1_clip_(plan.distribution() == StreamDistribution::laplace),
      grid_step_(plan.grid_step()),
      noise_source_(std::move(noise)),
      agents_(std::move(agents)),
      options_(options) {
    require_positive("clip-norm", options_.clip_norm);
    require_positive("step-size", options_.steps.step_size);
    const auto count = static_cast<Eigen::Index>(agents_.size());
    models_ = initial.replicate(1, count);
    gradients_ = Eigen::MatrixXd::Zero(initial.size(), count);
    noise_ = Eigen::MatrixXd::Zero(initial.size(),
                                   static_cast<Eigen::Index>(noise_source_.outputs().size()));
    messages_ = noise_;
    outgoing_ = outgoing_messages(noise_source_.outputs(), messages_, agents_.size());
}

void Trainer::compute_gradient(long round, std::size_t agent) {
    LocalAgent& local = agents_[agent];
    const auto column = static_cast<Eigen::Index>(agent);
    const auto rows = local.batches.rows(static_cast<std::uint64_t>(round));
    auto gradient = gradients_.col(column);
    // A loss that saturates has a finite gradient even at an infinite model.
    bool finite = models_.col(column).allFinite();
    const double step = options_.steps.at(round);
    if (options_.adjacency == Adjacency::agent) {
        local.objective->mean_gradient(models_.col(column), rows, gradient);
        const double clip = clip_norm(step, 1);
        finite = (options_.coordinates ? clip_coordinates_to_grid(gradient, clip, grid_step_)
                                       : clip_to_grid(gradient, l1_clip_, clip, grid_step_)) &&
                 finite;
    } else {
        // Records on the grid B * gamma: their sum divided by B is exact and on the grid gamma.
        const auto divisor = static_cast<double>(local.batch_size);
        if (finite) {
            local.objective->clipped_gradient_sum(models_.col(column),
                                                  rows,
                                                  clip_norm(step, divisor),
                                                  divisor * grid_step_,
                                                  gradient);
            gradient /= divisor;
        }
    }
    if (!finite)
        throw DivergedError(
            fmt::format("agent {}: the gradient of round {} is not finite; the training diverged "
                        "(use a smaller --step-size)",
                        local.number,
                        round));
}

double Trainer::clip_norm(double step, double divisor) const {
    if (entry_ == NoiseEntry::gradient) return options_.clip_norm;
    // Two messages before noise that differ by at most eta Delta (Delta >= C / B) differ by at most
    // one grid step a coordinate more once they are rounded.
    const auto dimension = options_.coordinates ? 1.0 : static_cast<double>(models_.rows());
    const double room = grid_step_ * (l1_clip_ ? dimension : std::sqrt(dimension)) * divisor / step;
    if (!(room <= 1e-3 * options_.clip_norm))
        throw PrivacyError(
            fmt::format("clip-norm: {} leaves no room for rounding messages to the noise's grid "
                        "({:.3g}); use a "
                        "larger --clip-norm or --step-size",
                        options_.clip_norm,
                        grid_step_));
    return options_.clip_norm - room;
}

void Trainer::make_message(double step, std::size_t output) {
    const NoiseOutput& to = noise_source_.outputs()[output];
    const auto a = static_cast<Eigen::Index>(to.local_index);
    const auto o = static_cast<Eigen::Index>(output);
    const double keep = 1 - step * options_.l2;
    auto message = messages_.col(o);
    if (entry_ == NoiseEntry::gradient) {
        message = keep * models_.col(a) - step * (gradients_.col(a) + noise_.col(o));
        return;
    }
    message = keep * models_.col(a) - step * gradients_.col(a);
    if (to.receiver != agents_[to.local_index].id)
        round_message_to_grid({message.data(), static_cast<std::size_t>(message.size())},
                              grid_step_);
    message += noise_.col(o);
}

void Trainer::run_round(long round) {
    const auto start = Clock::now();
    const auto count = static_cast<long>(agents_.size());
    parallel_for(count, options_.threads, [&](long a) {
        compute_gradient(round, static_cast<std::size_t>(a));
    });
    const auto after_gradient = Clock::now();
    noise_source_.draw(
        options_.key_epoch, static_cast<std::uint64_t>(round - options_.first_noise_round), noise_);
    const auto after_noise = Clock::now();

    const double step = options_.steps.at(round);
    const auto outputs = noise_source_.outputs();
    parallel_for(static_cast<long>(outputs.size()), options_.threads, [&](long o) {
        make_message(step, static_cast<std::size_t>(o));
    });
    if (!mixing_.fixed()) choose_active(mixing_.at(round));
    show_messages({round, 0});
    seconds_.gradient +=
        seconds_between(start, after_gradient) + seconds_between(after_noise, Clock::now());
    seconds_.noise += seconds_between(after_gradient, after_noise);
    mix(round);
}

void Trainer::show_messages(ExchangeId id) const {
    if (observers_.empty()) return;
    using Vector = Eigen::Ref<const Eigen::VectorXd>;
    const Eigen::VectorXd nothing;
    const bool first = id.step == 0;
    const auto outputs = noise_source_.outputs();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const std::size_t local = outputs[o].local_index;
        const auto a = static_cast<Eigen::Index>(local);
        const auto output = static_cast<Eigen::Index>(o);
        const auto mixing_row = mixing_.at(id.round).weights(agents_[local].id);
        const auto& to = outgoing_[local].to;
        const auto heard_by = to.empty() ? std::ssize(mixing_row) : std::ranges::count(to, 1);
        const OwnRound own{outputs[o].receiver,
                           id.step,
                           options_.steps.at(id.round),
                           models_.col(a),
                           first ? Vector(gradients_.col(a)) : Vector(nothing),
                           first ? Vector(noise_.col(output)) : Vector(nothing),
                           messages_.col(output),
                           mixing_row,
                           heard_by > 1 && sums_.empty() && !trusted_mean_};
        for (RoundObserver* observer : observers_) observer->on_message(id.round, local, own);
    }
}

std::vector<Outgoing> outgoing_messages(std::span<const NoiseOutput> outputs,
                                        const Eigen::MatrixXd& messages,
                                        std::size_t local_agents) {
    std::vector<Outgoing> outgoing(local_agents);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        Outgoing& of_agent = outgoing[outputs[o].local_index];
        const double* message = messages.col(static_cast<Eigen::Index>(o)).data();
        if (outputs[o].receiver == NoiseRow::all_receivers)
            of_agent.to_all = message;
        else
            of_agent.per_receiver.push_back(message);
    }
    return outgoing;
}

void require_summable(const NoisePlan& plan) {
    if (plan.aggregation == Aggregation::trusted_mean)
        throw ConfigError(fmt::format(
            "secure-sum: on is not possible with mechanism {}, whose trusted aggregator "
            "adds up the messages itself; use another mechanism, or --secure-sum off",
            plan.mechanism));
    if (!plan.same_message_to_all())
        throw ConfigError(
            fmt::format("secure-sum: on is not possible with mechanism {}, which gives every "
                        "receiver a message of its own; use another mechanism, or --secure-sum off",
                        plan.mechanism));
}

void Trainer::use_secure_sums(std::vector<SecureSum> sums) {
    if (trusted_mean_) throw Error(ExitCode::other, "secure sums beside a trusted mean");
    if (sums.size() != agents_.size())
        throw Error(ExitCode::other,
                    fmt::format("secure sums of {} agents for {}", sums.size(), agents_.size()));
    for (std::size_t a = 0; a < sums.size(); ++a)
        if (sums[a].agent() != agents_[a].id)
            throw Error(
                ExitCode::other,
                fmt::format(
                    "secure sum of agent {} given to agent {}", sums[a].agent(), agents_[a].id));
    sums_ = std::move(sums);
}

void Trainer::mix(long round) {
    const auto mixed = [&] {
        for (RoundObserver* observer : observers_)
            for (std::size_t a = 0; a < agents_.size(); ++a) observer->on_mixed(round, a);
    };
    if (trusted_mean_) {
        const auto start = Clock::now();
        models_.colwise() = network_.sum_over_agents(messages_) / network_.agents();
        seconds_.exchange += seconds_between(start, Clock::now());
        for (RoundObserver* observer : observers_)
            for (Eigen::Index a = 0; a < models_.cols(); ++a)
                observer->on_sum(round,
                                 static_cast<std::size_t>(a),
                                 0,
                                 {models_.col(a).data(), static_cast<std::size_t>(models_.rows())});
        mixed();
        return;
    }
    for (int step = 0; step < options_.gossip_steps; ++step) {
        if (step > 0) {
            messages_ = models_;
            show_messages({round, step});
        }
        if (sums_.empty())
            mix_messages({round, step});
        else
            mix_sums({round, step});
        mixed();
    }
}

void Trainer::mix_messages(ExchangeId id) {
    const auto start = Clock::now();
    const MixingMatrix& mixing = mixing_.at(id.round);
    // With one agent per process the callback runs on this thread; with many, exchange is a pointer
    // hand-over and everything counts as mixing.
    const bool timed = agents_.size() == 1;
    double mixing_seconds = 0;
    network_.exchange(id,
                      outgoing_,
                      models_.rows(),
                      [&](std::size_t local,
                          Eigen::Index first,
                          Eigen::Index part,
                          std::span<const double* const> columns) {
                          const auto begin = timed ? Clock::now() : Clock::time_point();
                          for (RoundObserver* observer : observers_)
                              observer->on_received(id.round, local, first, part, columns);
                          double* target = models_.col(static_cast<Eigen::Index>(local)).data();
                          const std::span<double> mixed(target + first,
                                                        static_cast<std::size_t>(part));
                          const auto weights = mixing.weights(agents_[local].id);
                          if (mixing_.fixed())
                              weighted_sum(columns, weights, mixed);
                          else
                              weighted_sum_of_heard(columns, weights, mixed);
                          if (timed) mixing_seconds += seconds_between(begin, Clock::now());
                      });
    const double total = seconds_between(start, Clock::now());
    if (!timed) mixing_seconds = total;
    seconds_.mix += mixing_seconds;
    seconds_.exchange += total - mixing_seconds;
}

void Trainer::choose_active(const MixingMatrix& mixing) {
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        const int own = agents_[a].id;
        const auto members = mixing.members(own);
        Outgoing& message = outgoing_[a];
        message.to.resize(members.size());
        message.from.resize(members.size());
        for (std::size_t j = 0; j < members.size(); ++j) {
            message.to[j] = members[j] == own || mixing.weight(members[j], own) > 0 ? 1 : 0;
            message.from[j] = members[j] == own || mixing.weight(own, members[j]) > 0 ? 1 : 0;
        }
    }
}

void Trainer::mix_sums(ExchangeId id) {
    const auto start = Clock::now();
    const MixingMatrix& mixing = mixing_.at(id.round);
    const Eigen::Index dimension = models_.rows();
    for (std::size_t v = 0; v < agents_.size(); ++v) {
        const int own = agents_[v].id;
        weights_away_.clear();
        for (const int member : mixing.members(own))
            if (member != own) weights_away_.push_back(mixing.weight(member, own));
        const double* message = messages_.col(static_cast<Eigen::Index>(v)).data();
        sums_[v].begin(
            id.round, id.step, {message, static_cast<std::size_t>(dimension)}, weights_away_);
    }
    network_.exchange_sum(
        id,
        dimension,
        [&](std::size_t local,
            std::size_t neighbour,
            Eigen::Index first,
            std::span<std::uint64_t> words) {
            sums_[local].share(neighbour, first, words);
            for (RoundObserver* observer : observers_)
                observer->on_share(id.round, id.step, local, neighbour, first, words);
        },
        [&](std::size_t local, Eigen::Index first, std::span<const std::uint64_t> sum) {
            if (!observers_.empty()) {
                std::vector<double> decoded(sum.size());
                SecureSum::decode(sum, decoded);
                for (RoundObserver* observer : observers_)
                    observer->on_sum(id.round, local, first, decoded);
            }
            const int own = agents_[local].id;
            const auto column = static_cast<Eigen::Index>(local);
            SecureSum::finish(sum,
                              mixing.weight(own, own),
                              {messages_.col(column).data() + first, sum.size()},
                              {models_.col(column).data() + first, sum.size()});
        });
    seconds_.exchange += seconds_between(start, Clock::now());
}

std::int64_t Trainer::memory_bytes(std::int64_t dimension,
                                   std::int64_t local_agents,
                                   std::int64_t own_messages,
                                   std::int64_t received_messages) {
    constexpr std::int64_t vectors_per_agent = 2;    // model, gradient
    constexpr std::int64_t vectors_per_message = 2;  // noise, message
    return static_cast<std::int64_t>(sizeof(double)) * dimension *
           (vectors_per_agent * local_agents + vectors_per_message * own_messages +
            received_messages);
}

}  // namespace sotto
