#include "sotto/agent/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "clipping.hpp"
#include "received_checks.hpp"
#include "sotto/agent/grid.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/core/value_range.hpp"
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

std::span<double> values_of(Eigen::Ref<Eigen::VectorXd> vector) {
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// Largest value that every agent may send to all that hear it, in every round.
double summable_limit(const MixingSchedule& mixing) {
    double limit = infinity;
    for (long t = 0; t < mixing.period(); ++t) {
        const MixingMatrix& matrix = mixing.at(t);
        for (int a = 0; a < matrix.agents(); ++a) {
            const auto members = matrix.members(a);
            const auto weights = matrix.weights(a);
            const double range = sum_range(static_cast<int>(members.size()) - 1);
            for (std::size_t j = 0; j < members.size(); ++j)
                if (members[j] != a && weights[j] != 0)
                    limit = std::min(limit, range / std::abs(weights[j]));
        }
    }
    // The product with the weight is rounded.
    return limit * (1 - 0x1p-50);
}

/// Beyond this many grid steps a sum with noise is not exact any more.
constexpr double most_grid_steps = 0x1p50;

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
      options_(options),
      reports_(agents_.size()),
      grid_limit_(entry_ == NoiseEntry::gradient ? infinity : most_grid_steps * grid_step_) {
    require_positive("clip-norm", options_.clip_norm);
    require_positive("step-size", options_.steps.step_size);
    const auto count = static_cast<Eigen::Index>(agents_.size());
    for (LocalAgent& agent : agents_) {
        agent.objective->set_largest_batch(
            std::max(agent.batches.largest_batch(), agent.padding.least()));
        agent.padding.prepare(initial.size());
    }
    start_from(initial.replicate(1, count));
    gradients_ = Eigen::MatrixXd::Zero(initial.size(), count);
    noise_ = Eigen::MatrixXd::Zero(initial.size(),
                                   static_cast<Eigen::Index>(noise_source_.outputs().size()));
    messages_ = noise_;
    outgoing_ = outgoing_messages(noise_source_.outputs(), messages_, agents_.size());
}

void Trainer::start_from(const Eigen::MatrixXd& models) {
    if (first_beyond({models.data(), static_cast<std::size_t>(models.size())}, largest_model_value))
        throw DataError(fmt::format("a model to start from has values beyond {:g}, or not finite",
                                    largest_model_value));
    models_ = models;
}

void Trainer::compute_gradient(long round, std::size_t agent) {
    LocalAgent& local = agents_[agent];
    AgentReport& report = reports_[agent];
    const auto column = static_cast<Eigen::Index>(agent);
    const auto rows = local.batches.rows(static_cast<std::uint64_t>(round));
    auto gradient = gradients_.col(column);
    const double step = options_.steps.at(round);
    if (options_.adjacency == Adjacency::agent) {
        local.objective->mean_gradient(models_.col(column), rows, gradient);
        const double clip = clip_norm(step, 1);
        const bool finite = options_.coordinates
                                ? clip_coordinates_to_grid(gradient, clip, grid_step_)
                                : clip_to_grid(gradient, l1_clip_, clip, grid_step_);
        if (!finite) ++report.gradients_set_to_zero;
        return;
    }
    // Records on the grid B * gamma: their sum divided by B is exact and on the grid gamma.
    const std::int64_t set_to_zero = local.objective->records_set_to_zero();
    const auto divisor = static_cast<double>(local.batch_size);
    local.objective->clipped_gradient_sum(
        models_.col(column), rows, clip_norm(step, divisor), divisor * grid_step_, gradient);
    report.records_set_to_zero += local.objective->records_set_to_zero() - set_to_zero;
    local.padding.work(*local.objective,
                       models_.col(column),
                       std::ssize(rows),
                       options_.clip_norm,
                       divisor * grid_step_);
    if (gradient.allFinite()) {
        gradient /= divisor;
        return;
    }
    gradient.setZero();
    ++report.gradients_set_to_zero;
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

std::size_t Trainer::make_message(double step, std::size_t output) {
    const NoiseOutput& to = noise_source_.outputs()[output];
    const auto a = static_cast<Eigen::Index>(to.local_index);
    const auto o = static_cast<Eigen::Index>(output);
    const double keep = 1 - step * options_.l2;
    auto message = messages_.col(o);
    if (entry_ == NoiseEntry::gradient) {
        message = keep * models_.col(a) - step * (gradients_.col(a) + noise_.col(o));
        return 0;
    }
    message = keep * models_.col(a) - step * gradients_.col(a);
    // Before the noise: what comes after it may depend on what it hides.
    const std::size_t limited = limit_values(values_of(message), grid_limit_);
    if (to.receiver != agents_[to.local_index].id)
        round_message_to_grid(values_of(message), grid_step_);
    message += noise_.col(o);
    return limited;
}

void Trainer::limit_messages(std::vector<std::size_t> limited) {
    const auto outputs = noise_source_.outputs();
    parallel_for(static_cast<long>(outputs.size()), options_.threads, [&](long o) {
        limited[static_cast<std::size_t>(o)] +=
            limit_values(values_of(messages_.col(o)), message_limit_);
    });
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (limited[o] > 0) ++reports_[outputs[o].local_index].messages_limited;
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
    std::vector<std::size_t> limited(outputs.size());
    parallel_for(static_cast<long>(outputs.size()), options_.threads, [&](long o) {
        const auto output = static_cast<std::size_t>(o);
        limited[output] = make_message(step, output);
    });
    limit_messages(std::move(limited));
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
    for (const LocalAgent& agent : agents_) {
        std::vector<int>& neighbours = neighbours_.emplace_back();
        for (const int member : mixing_.at(0).members(agent.id))
            if (member != agent.id) neighbours.push_back(member);
    }
    message_limit_ = std::min(message_limit_, summable_limit(mixing_));
}

void Trainer::mix(long round) {
    const auto mixed = [&] {
        for (RoundObserver* observer : observers_)
            for (std::size_t a = 0; a < agents_.size(); ++a) observer->on_mixed(round, a);
    };
    if (trusted_mean_) {
        const auto start = Clock::now();
        const std::string of_round = fmt::format("the trusted aggregator, round {},", round);
        Eigen::VectorXd mean = network_.sum_over_agents(
            messages_, require_collected_in_range("message to " + of_round, largest_message_value));
        mean /= network_.agents();
        require_collected_in_range("mean of " + of_round, largest_model_value)(
            0, 0, values_of(mean));
        models_.colwise() = mean;
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
            limit_messages(std::vector<std::size_t>(noise_source_.outputs().size()));
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
                          check_received(id, local, first, part, columns);
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

void Trainer::check_received(ExchangeId id,
                             std::size_t local,
                             Eigen::Index first,
                             Eigen::Index count,
                             std::span<const double* const> columns) const {
    // What agents of one process give each other it has limited itself.
    if (network_.processes() == 1) return;
    const int own = agents_[local].id;
    const auto members = mixing_.at(id.round).members(own);
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (members[j] != own && columns[j] != nullptr)
            require_message_in_range({members[j], own, id},
                                     first,
                                     {columns[j], static_cast<std::size_t>(count)},
                                     largest_message_value);
}

void Trainer::choose_active(const MixingMatrix& mixing) {
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        const int own = agents_[a].id;
        const auto members = mixing.members(own);
        Outgoing& message = outgoing_[a];
        message.to.resize(members.size());
        message.from.resize(members.size());
        for (std::size_t j = 0; j < members.size(); ++j) {
            message.to[j] = members[j] == own || mixing.weight(members[j], own) != 0 ? 1 : 0;
            message.from[j] = members[j] == own || mixing.weight(own, members[j]) != 0 ? 1 : 0;
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
            const int own = agents_[local].id;
            require_sum_in_range(own, neighbours_[local], id, first, sum);
            if (!observers_.empty()) {
                std::vector<double> decoded(sum.size());
                SecureSum::decode(sum, decoded);
                for (RoundObserver* observer : observers_)
                    observer->on_sum(id.round, local, first, decoded);
            }
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
