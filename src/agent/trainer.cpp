#include "agent/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <thread>
#include <utility>

#include "agent/contribution.hpp"
#include "agent/message_mixing.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "core/value_range.hpp"
#include "noise/noise_source.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

std::span<double> values_of(Eigen::Ref<Eigen::VectorXd> vector) {
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// Work of a network while it waits, for the life of the object.
class WhileWaiting {
  public:
    WhileWaiting(Network& network, WaitingWork piece) : network_(network) {
        network_.work_while_waiting(std::move(piece));
    }
    ~WhileWaiting() { network_.work_while_waiting({}); }
    WhileWaiting(const WhileWaiting&) = delete;
    WhileWaiting& operator=(const WhileWaiting&) = delete;

  private:
    Network& network_;
};

/// Above this many grid steps a sum with noise is no longer exact.
constexpr double most_grid_steps = 0x1p50;

/// Limits of messages keep psi and u within a few times the largest model.
constexpr double correction_range = 1e3;

/// What an agent keeps for a correction.
std::int64_t vectors_of(Correction correction) {
    if (correction == Correction::none) return 0;
    return correction == Correction::tracking ? 2 : 1;
}

constexpr Eigen::Index message_block = 2048;  // coordinates of all vectors stay in the cache

}  // namespace

Trainer::Trainer(Network& network,
                 const MixingSchedule& mixing,
                 const NoisePlan& plan,
                 NoiseSource noise,
                 std::vector<LocalAgent> agents,
                 const Eigen::VectorXd& initial,
                 TrainerOptions options)
    : network_(network),
      mixing_(std::make_unique<MessageMixing>(network, network.blocks(), mixing)),
      trusted_mean_(plan.aggregation == Aggregation::trusted_mean),
      entry_(plan.entry),
      l1_clip_(plan.distribution() == StreamDistribution::laplace),
      grid_step_(plan.grid_step()),
      noise_source_(std::move(noise)),
      agents_(std::move(agents)),
      options_(std::move(options)),
      reports_(agents_.size()),
      message_limit_(std::min(largest_message_value, largest_value(network.message_precision()))),
      grid_limit_(entry_ == NoiseEntry::gradient ? infinity : most_grid_steps * grid_step_),
      means_(options_.smoothing, options_.rounds) {
    require_positive("clip-norm", options_.clip_norm);
    require_positive("step-size", options_.steps.step_size);
    const auto count = static_cast<Eigen::Index>(agents_.size());
    for (LocalAgent& agent : agents_) {
        agent.objective->set_largest_batch(
            std::max(agent.batches.largest_batch(), agent.padding.least()));
        agent.padding.prepare(initial.size());
    }
    if (mixing.push_sum() && !trusted_mean_) weights_.emplace(mixing.agents());
    if (options_.preconditioning.every > 0)
        preconditioner_.emplace(options_.preconditioning,
                                options_.steps,
                                options_.smoothing.momentum,
                                options_.l2 * options_.local_steps);
    if (options_.smoothing.momentum > 0) velocities_ = Eigen::MatrixXd::Zero(initial.size(), count);
    if (options_.smoothing.correction == Correction::tracking)
        carried_ = directions_ = Eigen::MatrixXd::Zero(initial.size(), count);
    start_from(initial.replicate(1, count));
    noise_ = Eigen::MatrixXd::Zero(initial.size(),
                                   static_cast<Eigen::Index>(noise_source_.outputs().size()));
    messages_ = noise_;
    if (noise_.cols() != count) keep_gradients();
    if (options_.message_steps) {
        message_limit_ = std::min(largest_message_value, options_.message_steps->limit());
        coder_.emplace(mixing.at(0), agents_, initial.size(), *options_.message_steps);
    }
    if (options_.max_lag > 0) mixing_->use_lag(options_.max_lag);
    outgoing_ = outgoing_messages(noise_source_.outputs(), messages_, agents_.size());
    prepare_for_lies(plan);
}

double robust_horizon(long rounds) {
    return std::clamp(static_cast<double>(rounds) / 2, 10.0, 400.0);
}

void Trainer::prepare_for_lies(const NoisePlan& plan) {
    const MixingSchedule& schedule = mixing_->schedule();
    const Eigen::Index dimension = models_.rows();
    if (!options_.lies.empty()) {
        liars_ = std::make_unique<Liars>(
            options_.lies, agents_, schedule, dimension, options_.faults_seed);
        observe(liars_.get());
        for (LocalAgent& agent : agents_) agent.lies = liars_->lies(agent.id);
    }
    if (!options_.robust.on()) return;
    std::optional<HonestSpread> spread;
    if (options_.robust.limits_from_plan()) {
        const double each = options_.coordinates ? std::sqrt(static_cast<double>(dimension)) : 1;
        spread.emplace(HonestDrive{plan,
                                   schedule.at(0),
                                   options_.gossip,
                                   each * options_.clip_norm / options_.client_probability,
                                   dimension,
                                   robust_horizon(options_.rounds)});
    }
    std::vector<int> places;
    for (const LocalAgent& agent : agents_) places.push_back(agent.id);
    mixing_->use_robust(RobustMixing(options_.robust,
                                     schedule.at(0),
                                     std::move(places),
                                     dimension,
                                     std::move(spread),
                                     options_.gossip.steps()));
}

void Trainer::check_shared_noise(SharedNoiseCheck check) {
    mixing_->robust()->check_shared_noise(std::move(check));
}

std::vector<Suspicion> Trainer::suspicions() const {
    const RobustMixing* const robust = mixing_->robust();
    return robust == nullptr ? std::vector<Suspicion>{} : robust->suspicions();
}

void Trainer::keep_gradients() {
    if (gradients_.cols() == 0) gradients_ = Eigen::MatrixXd::Zero(models_.rows(), models_.cols());
}

void Trainer::observe(RoundObserver* observer) {
    keep_gradients();  // observers see them beside the messages
    if (coder_) coder_->keep_heard();
    observers_.push_back(observer);
}

void Trainer::start_from(const Eigen::MatrixXd& models) {
    if (first_beyond({models.data(), static_cast<std::size_t>(models.size())}, largest_model_value))
        throw DataError(fmt::format("a model to start from has values beyond {:g}, or not finite",
                                    largest_model_value));
    models_ = models;
    if (coder_) coder_->restart();
    estimate();
    means_.start(models_);
    if (options_.smoothing.correction == Correction::exact_diffusion) carried_ = models_;
    if (preconditioner_) preconditioner_->start(models_);
}

void Trainer::start_correction_from(const Eigen::MatrixXd& carried,
                                    const Eigen::MatrixXd& directions) {
    const auto require = [](const Eigen::MatrixXd& given, const Eigen::MatrixXd& own) {
        if (given.cols() != own.cols() || (own.cols() > 0 && given.rows() != own.rows()))
            throw DataError(
                fmt::format("vectors of a correction to go on from: {} x {} (allowed: {} x {})",
                            given.rows(),
                            given.cols(),
                            own.rows(),
                            own.cols()));
        if (first_beyond({given.data(), static_cast<std::size_t>(given.size())},
                         correction_range * largest_model_value))
            throw DataError(fmt::format(
                "a vector of a correction to go on from has values beyond {:g}, or not finite",
                correction_range * largest_model_value));
    };
    require(carried, carried_);
    require(directions, directions_);
    carried_ = carried;
    directions_ = directions;
}

void Trainer::start_preconditioner_from(const Eigen::MatrixXd& anchors,
                                        const Eigen::MatrixXd& moments) {
    if (preconditioner_) preconditioner_->resume(anchors, moments);
}

void Trainer::start_smoothing_from(const Eigen::MatrixXd& velocities,
                                   const Eigen::MatrixXd& means,
                                   long rounds_done) {
    const std::vector<std::pair<const char*, const Eigen::MatrixXd*>> all{
        {"velocity", &velocities}, {"mean of models", &means}};
    for (const auto& [name, values] : all)
        if (first_beyond({values->data(), static_cast<std::size_t>(values->size())},
                         largest_model_value))
            throw DataError(fmt::format("a {} to start from has values beyond {:g}, or not finite",
                                        name,
                                        largest_model_value));
    if (velocities.cols() != velocities_.cols() ||
        (velocities.cols() > 0 && velocities.rows() != velocities_.rows()))
        throw DataError(fmt::format("velocities to go on from: {} x {} (allowed: {} x {})",
                                    velocities.rows(),
                                    velocities.cols(),
                                    models_.rows(),
                                    velocities_.cols()));
    velocities_ = velocities;
    means_.resume(means, models_, rounds_done);
    if (!weights_) return;
    weights_.emplace(mixing_->schedule().agents());
    for (long round = 0; round < rounds_done; ++round)
        for (int step = 0; step < options_.gossip.steps(); ++step)
            weights_->mix(mixing_->schedule().at(round));
    estimate();
}

void Trainer::compute_contribution(long round, std::size_t agent) {
    const auto column = static_cast<Eigen::Index>(agent);
    contribute({options_, entry_, l1_clip_, grid_step_},
               round,
               estimates().col(column),
               agents_[agent],
               gradients().col(column),
               reports_[agent]);
    if (liars_) liars_->change_gradient(agents_[agent].id, gradients().col(column));
}

std::size_t Trainer::make_message(double step, std::size_t output) {
    std::size_t limited = 0;
    for (Eigen::Index first = 0; first < messages_.rows(); first += message_block)
        limited +=
            make_part(step, output, first, std::min(message_block, messages_.rows() - first));
    return limited;
}

std::size_t Trainer::make_part(double step,
                               std::size_t output,
                               Eigen::Index first,
                               Eigen::Index count) {
    const NoiseOutput& to = noise_source_.outputs()[output];
    const auto a = static_cast<Eigen::Index>(to.local_index);
    const auto o = static_cast<Eigen::Index>(output);
    const double keep = 1 - step * options_.l2 * options_.local_steps;
    // The message may replace the gradient, coordinate by coordinate.
    auto message = messages_.col(o).segment(first, count);
    const auto model = models_.col(a).segment(first, count);
    const auto gradient = gradients().col(a).segment(first, count);
    const auto noise = noise_.col(o).segment(first, count);
    if (entry_ != NoiseEntry::gradient) {
        message = keep * model - step * gradient;
        // Before the noise is added: beyond the limit, rounding the sum could depend on what the
        // noise hides.
        const std::size_t limited = limit_values(values_of(message), grid_limit_);
        if (to.receiver != agents_[to.local_index].id)
            round_message_to_grid(values_of(message), grid_step_);
        message += noise;
        return limited + limit_and_round(values_of(message));
    }
    if (velocities_.cols() == 0) {
        move(step, a, first, message, gradient + noise);
    } else {
        auto velocity = velocities_.col(a).segment(first, count);
        velocity *= options_.smoothing.momentum;
        velocity += gradient + noise;
        move(step, a, first, message, velocity);
    }
    if (!owed_rounds_.empty()) message -= owed_.col(o).segment(first, count);
    return finish_part(a, first, message);
}

template <class Direction>
void Trainer::move(double step,
                   Eigen::Index agent,
                   Eigen::Index first,
                   Eigen::Ref<Eigen::VectorXd> message,
                   const Direction& by) const {
    const Eigen::Index count = message.size();
    if (directions_.cols() > 0) {
        // The sum with noise is exact, and comes first.
        message = (carried_.col(agent).segment(first, count) -
                   directions_.col(agent).segment(first, count)) +
                  by;
        return;
    }
    move_model(step, agent, first, message, by);
}

template <class Direction>
void Trainer::move_model(double step,
                         Eigen::Index agent,
                         Eigen::Index first,
                         Eigen::Ref<Eigen::VectorXd> message,
                         const Direction& by) const {
    const Eigen::Index count = message.size();
    const double keep = 1 - step * options_.l2 * options_.local_steps;
    const auto model = models_.col(agent).segment(first, count);
    if (preconditioner_)
        message =
            keep * model -
            step * preconditioner_->scales().col(agent).segment(first, count).cwiseProduct(by);
    else
        message = keep * model - step * by;
}

std::size_t Trainer::finish_part(Eigen::Index agent,
                                 Eigen::Index first,
                                 Eigen::Ref<Eigen::VectorXd> message) {
    const Eigen::Index count = message.size();
    // Limits and rounding of a message are a part of psi and u, so that corrections of all agents
    // still add up to zero.
    if (options_.smoothing.correction == Correction::exact_diffusion) {
        auto psi = carried_.col(agent).segment(first, count);
        psi = carry_ * (models_.col(agent).segment(first, count) - psi);
        message += psi;
        const std::size_t limited = limit_and_round(values_of(message));
        psi = message - psi;
        return limited;
    }
    const std::size_t limited = limit_and_round(values_of(message));
    if (directions_.cols() > 0)
        directions_.col(agent).segment(first, count) +=
            message - carried_.col(agent).segment(first, count);
    return limited;
}

std::size_t Trainer::make_tracked_step(double step, std::size_t output) {
    const auto a = static_cast<Eigen::Index>(noise_source_.outputs()[output].local_index);
    auto message = messages_.col(static_cast<Eigen::Index>(output));
    move_model(step, a, 0, message, carried_.col(a));
    return limit_and_round(values_of(message));
}

std::size_t Trainer::limit_and_round(std::span<double> message) const {
    const std::size_t limited = limit_values(message, message_limit_);
    if (!coder_) round_to_precision(message, network_.message_precision());
    return limited;
}

void Trainer::make_messages(const std::function<std::size_t(std::size_t output)>& make) {
    const auto outputs = noise_source_.outputs();
    std::vector<std::size_t> limited(outputs.size());
    parallel_for(static_cast<long>(outputs.size()), options_.threads, [&](long o) {
        const auto output = static_cast<std::size_t>(o);
        limited[output] = make(output);
    });
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (limited[o] > 0) ++reports_[outputs[o].local_index].messages_limited;
}

void Trainer::send_models(ExchangeId id) {
    messages_ = models_;
    make_messages([this](std::size_t output) {
        return limit_and_round(values_of(messages_.col(static_cast<Eigen::Index>(output))));
    });
    encode(id);
}

void Trainer::encode(ExchangeId id) {
    if (coder_) coder_->encode(id, messages_, options_.threads);
}

long Trainer::run_round(long round, long meeting) {
    const RoundGate::Stay stay = gate_.enter();
    gate_.begin(options_.key_epoch, static_cast<std::uint64_t>(round));
    const auto start = begun_ = Clock::now();
    const auto count = static_cast<long>(agents_.size());
    parallel_for(count, options_.threads, [&](long a) {
        compute_contribution(round, static_cast<std::size_t>(a));
    });
    be_slow(start);
    if (liars_) liars_->begin_round(models_);
    if (RobustMixing* const robust = mixing_->robust())
        robust->begin_round(round,
                            options_.steps,
                            options_.key_epoch,
                            static_cast<std::uint64_t>(round - options_.first_noise_round));
    const auto after_gradient = Clock::now();
    if (const long joined = round_to_join(round, meeting); joined != round) {
        rounds_skipped_ += joined - round;
        seconds_.gradient += seconds_between(start, after_gradient);
        owe_noise(round, joined);
        if (joined == meeting) return meeting;
        round = joined;
        gate_.begin(options_.key_epoch, static_cast<std::uint64_t>(round));
        begun_ = after_gradient;
    }
    finish_noise(round);
    const auto after_noise = Clock::now();

    const double step = options_.steps.at(round);
    if (round > 0) carry_ = step / options_.steps.at(round - 1);
    make_messages([this, step](std::size_t output) { return make_message(step, output); });
    encode({round, 0});
    choose_messages(round);
    show_messages({round, 0});
    if (!owed_rounds_.empty()) owed_.setZero();
    owed_rounds_.clear();
    seconds_.gradient +=
        seconds_between(start, after_gradient) + seconds_between(after_noise, Clock::now());
    seconds_.noise += seconds_between(after_gradient, after_noise);
    if (trusted_mean_)
        take_trusted_mean(round);
    else
        exchange_round(round);
    note_arrivals();
    if (preconditioner_ && preconditioner_->due(round)) renew_preconditioner(round);
    estimate();
    means_.add(round, estimates());
    return round + 1;
}

void Trainer::be_slow(Clock::time_point start) {
    double factor = 1;
    for (const LocalAgent& agent : agents_)
        factor = std::max(factor, options_.faults.times_as_long(agent.number));
    if (factor == 1) return;
    const double before = std::exchange(other_seconds_, seconds_.noise + mixing_->seconds().mix);
    const double worked = seconds_since(start) + other_seconds_ - before;
    std::this_thread::sleep_for(std::chrono::duration<double>((factor - 1) * worked));
}

void Trainer::owe_noise(long first, long round) {
    const auto start = Clock::now();
    // Who is slow must not fall behind for it further and further.
    const double most = seconds_between(begun_, start);
    if (owed_.cols() == 0) owed_ = Eigen::MatrixXd::Zero(noise_.rows(), noise_.cols());
    long missed = first;
    for (; missed < round && seconds_since(start) < most; ++missed) {
        if (missed > first) gate_.begin(options_.key_epoch, static_cast<std::uint64_t>(missed));
        finish_noise(missed);
        owed_ += options_.steps.at(missed) * noise_;
        owed_rounds_.push_back(missed);
    }
    rounds_without_noise_ += round - missed;
    const double seconds = seconds_since(start);
    seconds_.noise += seconds;
    other_seconds_ += seconds;
}

void Trainer::note_arrivals() {
    if (!options_.deadline || std::isfinite(*options_.deadline)) return;
    for (const Clock::time_point when : network_.arrivals())
        arrivals_.push_back(std::max(0.0, seconds_between(begun_, when)));
}

void Trainer::take_late() {
    if (options_.max_lag == 0) return;
    mixing_->mix_late(agents_, largest_message_value, models_);
    estimate();
}

long Trainer::round_to_join(long round, long meeting) {
    if (!options_.deadline) return round;
    if (network_.meeting_called()) return meeting;
    const long there = network_.round_of_neighbours();
    return there > round + options_.max_lag ? std::min(there, meeting - 1) + 1
                                            : round;  // a peer may say any round
}

void Trainer::set_deadline_of(int step, int steps) {
    if (!options_.deadline) return;
    constexpr double while_measuring = 60;
    const double longest = std::min(*options_.deadline, while_measuring);
    const auto after = [](Clock::time_point start, double seconds) {
        return start +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    };
    Clock::time_point end = after(begun_, longest);
    if (step > 0) end = std::max(end, after(Clock::now(), longest / steps));
    network_.set_deadline(end);
}

void Trainer::choose_messages(long round) {
    if (!mixing_->schedule().fixed()) mixing_->choose_active(round, agents_, outgoing_);
    if (options_.faults.silent == 0) return;
    // While the deadline is measured, nobody is silent.
    const bool measuring = options_.deadline && !std::isfinite(*options_.deadline);
    const auto silent = [&](int agent) {
        return !measuring && options_.faults.is_silent(options_.faults_seed, round, agent);
    };
    if (mixing_->schedule().fixed()) mixing_->choose_active(round, agents_, outgoing_);
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        const int own = agents_[a].id;
        const auto members = mixing_->schedule().at(round).members(own);
        for (std::size_t j = 0; j < members.size(); ++j) {
            // With a deadline nobody else knows beforehand.
            if (members[j] != own && (silent(own) || (!options_.deadline && silent(members[j]))))
                outgoing_[a].to[j] = outgoing_[a].from[j] = 0;
        }
    }
}

void Trainer::renew_preconditioner(long round) {
    const bool corrected = options_.smoothing.correction == Correction::exact_diffusion;
    // Models come together, and x - psi stays as it is.
    if (corrected) carried_ -= models_;
    if (!trusted_mean_)
        exchange_models(round,
                        exchanges_a_round(options_.smoothing.correction, options_.gossip.steps()),
                        preconditioner_->options().consensus);
    if (corrected) carried_ += models_;
    preconditioner_->renew(round, models_);
}

void Trainer::estimate() {
    if (!weights_) return;
    estimates_.resize(models_.rows(), models_.cols());
    parallel_for(models_.cols(), options_.threads, [&](long a) {
        estimates_.col(a) = models_.col(a) / weights_->of(agents_[static_cast<std::size_t>(a)].id);
        // Keeps a peer's extreme values within what evaluation accepts.
        limit_values(values_of(estimates_.col(a)), largest_model_value);
    });
}

void Trainer::begin_noise(long round) {
    noise_source_.begin(options_.key_epoch,
                        static_cast<std::uint64_t>(round - options_.first_noise_round),
                        models_.rows());
    noise_round_ = round;
    noise_left_ = true;
}

void Trainer::finish_noise(long round) {
    if (noise_round_ != round) begin_noise(round);
    while (noise_left_) noise_left_ = noise_source_.draw_piece(noise_);
}

bool Trainer::draw_while_waiting() {
    const auto start = Clock::now();
    noise_left_ = noise_source_.draw_piece(noise_);
    const double seconds = seconds_between(start, Clock::now());
    seconds_.noise += seconds;
    seconds_.exchange -= seconds;
    return noise_left_;
}

void Trainer::exchange_round(long round) {
    // The messages hold this round's noise, and observers have seen it, so the next can be drawn.
    // If the past is drawn again, a piece takes too long.
    if (round + 1 >= options_.rounds || noise_source_.draws_past_again(models_.rows())) {
        exchange_messages(round);
        return;
    }
    begin_noise(round + 1);
    const WhileWaiting drawing(network_, [this] { return draw_while_waiting(); });
    exchange_messages(round);
}

void Trainer::exchange_messages(long round) {
    if (options_.smoothing.correction != Correction::tracking) {
        exchange_and_mix({round, 0}, options_.gossip, true);
        return;
    }
    models_.swap(carried_);  // y is mixed in place of models
    exchange_and_mix({round, 0}, options_.gossip, true);
    models_.swap(carried_);
    const double step = options_.steps.at(round);
    make_messages([this, step](std::size_t output) { return make_tracked_step(step, output); });
    const ExchangeId second{round, options_.gossip.steps()};
    show_messages(second);
    exchange_and_mix(second, options_.gossip, true);
}

void Trainer::exchange_models(long round, int first_step, const GossipPolynomial& gossip) {
    send_models({round, first_step});
    exchange_and_mix({round, first_step}, gossip, false);
}

void Trainer::take_means() {
    if (means_.values().cols() > 0) models_ = means_.values();
}

void Trainer::run_final_gossip() {
    if (trusted_mean_) return;  // all have the same model
    if (entry_ != NoiseEntry::gradient)
        throw Error(ExitCode::other, "final gossip of models that noise on messages does not hide");
    const RoundGate::Stay stay = gate_.enter();
    if (RobustMixing* const robust = mixing_->robust()) robust->end_rounds();
    if (mixing_->schedule().fixed())  // nobody is silent
        for (Outgoing& message : outgoing_) message.to = message.from = {};
    exchange_models(options_.rounds, 0, options_.smoothing.final_gossip);
    estimate();
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
        const auto mixing_row = mixing_->schedule().at(id.round).weights(agents_[local].id);
        const auto& to = outgoing_[local].to;
        const auto heard_by = to.empty() ? std::ssize(mixing_row) : std::ranges::count(to, 1);
        const OwnRound own{outputs[o].receiver,
                           id.step,
                           options_.steps.at(id.round),
                           models_.col(a),
                           first ? Vector(gradients_.col(a)) : Vector(nothing),
                           first ? Vector(noise_.col(output)) : Vector(nothing),
                           coder_ ? coder_->known().col(a) : messages_.col(output),
                           mixing_row,
                           heard_by > 1 && !mixing_->secure_sums() && !trusted_mean_,
                           first ? std::span<const long>(owed_rounds_) : std::span<const long>()};
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

Trainer::Trainer(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

void Trainer::use_secure_sums(std::vector<SecureSum> sums) {
    if (trusted_mean_) throw Error(ExitCode::other, "secure sums beside a trusted mean");
    mixing_->use_secure_sums(std::move(sums), agents_);
    message_limit_ = std::min(message_limit_, mixing_->summable_limit());
}

RoundSeconds Trainer::seconds() const {
    RoundSeconds seconds = seconds_;
    seconds.exchange += mixing_->seconds().exchange;
    seconds.mix += mixing_->seconds().mix;
    return seconds;
}

void Trainer::show_mixed(long round) const {
    for (RoundObserver* observer : observers_)
        for (std::size_t a = 0; a < agents_.size(); ++a) observer->on_mixed(round, a);
}

void Trainer::take_trusted_mean(long round) {
    const auto start = Clock::now();
    const std::string of_round = fmt::format("the trusted aggregator, round {},", round);
    Eigen::VectorXd mean = network_.sum_over_agents(
        messages_, require_collected_in_range("message to " + of_round, largest_message_value));
    mean /= network_.agents();
    require_collected_in_range("mean of " + of_round, largest_model_value)(0, 0, values_of(mean));
    models_.colwise() = mean;
    seconds_.exchange += seconds_between(start, Clock::now());
    for (RoundObserver* observer : observers_)
        for (Eigen::Index a = 0; a < models_.cols(); ++a)
            observer->on_sum(round,
                             static_cast<std::size_t>(a),
                             0,
                             {models_.col(a).data(), static_cast<std::size_t>(models_.rows())});
    show_mixed(round);
}

void Trainer::exchange_and_mix(ExchangeId first, const GossipPolynomial& gossip, bool shown) {
    const long round = first.round;
    const std::vector<RoundObserver*> nobody;
    if (gossip.combines()) combined_ = gossip.share(0) * messages_;
    for (int step = 0; step < gossip.steps(); ++step) {
        const ExchangeId id{round, first.step + step};
        const double before = gossip.before(step);
        if (step > 0) {
            if (before != 0) earlier_ = messages_;
            send_models(id);
            if (shown) show_messages(id);
        }
        if (liars_)
            liars_->lie(id, messages_, message_limit(), network_.message_precision(), outgoing_);
        if (shown)
            set_deadline_of(step, gossip.steps());
        else
            network_.set_deadline(std::nullopt);
        mixing_->run({id,
                      gossip.here(step),
                      before,
                      agents_,
                      outgoing_,
                      messages_,
                      earlier_,
                      models_,
                      shown ? observers_ : nobody,
                      largest_message_value,
                      coder_ ? &*coder_ : nullptr,
                      liars_ != nullptr});
        if (weights_) weights_->mix(mixing_->schedule().at(round), gossip.here(step), before);
        if (gossip.combines()) {
            combined_ += gossip.share(step + 1) * models_;
            if (step + 1 == gossip.steps()) take_combination();
        }
        if (shown) show_mixed(round);
    }
}

void Trainer::take_combination() {
    models_.swap(combined_);
    limit_values({models_.data(), static_cast<std::size_t>(models_.size())}, largest_model_value);
}

std::int64_t Trainer::memory_bytes(std::int64_t dimension,
                                   std::int64_t local_agents,
                                   std::int64_t own_messages,
                                   std::int64_t received_messages,
                                   const GossipPolynomial& gossip,
                                   const Smoothing& smoothing,
                                   bool push_sum,
                                   bool preconditioned,
                                   bool short_messages,
                                   std::int64_t kept) {
    const auto recurs = [](const GossipPolynomial& polynomial) {
        return polynomial.steps() > 1 && polynomial.before(1) != 0;
    };
    const bool earlier = recurs(gossip) || recurs(smoothing.final_gossip);
    const std::int64_t vectors_per_agent =
        1 +                                       // model
        (own_messages == local_agents ? 0 : 1) +  // gradient
        (smoothing.momentum > 0 ? 1 : 0) + vectors_of(smoothing.correction) +
        (smoothing.averages() ? 1 : 0) + (earlier ? 1 : 0) + (gossip.combines() ? 1 : 0) +
        (push_sum ? 1 : 0) + (preconditioned ? 3 : 0) +
        (short_messages ? MessageCoder::vectors_per_agent : 0);
    constexpr std::int64_t vectors_per_message = 2;  // noise, message
    return static_cast<std::int64_t>(sizeof(double)) * dimension *
           (vectors_per_agent * local_agents + vectors_per_message * own_messages +
            received_messages + kept);
}

}  // namespace sotto
