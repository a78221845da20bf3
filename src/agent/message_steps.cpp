#include "agent/message_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/seeded_random.hpp"
#include "core/text_input.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double least_of_motion = 0.42, usual_of_motion = 0.6;
constexpr int most_halvings = 6;
constexpr int smallest_exponent_allowed = -900, largest_exponent_allowed = 300;

/// Random signs, 64 a draw.
class Signs {
  public:
    Eigen::RowVectorXd draw(Eigen::Index count) {
        Eigen::RowVectorXd signs(count);
        for (double& sign : signs) {
            if (left_ == 0) {
                bits_ = random_();
                left_ = 64;
            }
            sign = (bits_ & 1) != 0 ? 1 : -1;
            bits_ >>= 1;
            --left_;
        }
        return signs;
    }

  private:
    SeededRandom random_{0, "sotto.agent.motion"};
    std::uint64_t bits_ = 0;
    int left_ = 0;
};

/// Runs rounds of scalar models, `samples` side by side.
class MotionModel {
  public:
    MotionModel(const MessageDrive& drive, Eigen::Index samples, long rounds)
        : drive_(drive),
          deviation_(drive.plan.scale * std::sqrt(unit_variance(drive.plan.distribution()))),
          models_(Eigen::MatrixXd::Zero(drive.mixing.agents(), samples)),
          velocities_(models_),
          carried_(models_),
          last_(models_) {
        if (drive.plan.temporal.kind != TemporalFactor::Kind::identity && !drive.plan.noiseless())
            factor_ = dense_factor(drive.plan.temporal, rounds);
    }

    void make_message(Signs& signs) {
        velocities_ *= drive_.momentum;
        velocities_ += noise(signs);
        for (Eigen::Index u = 0; u < models_.rows(); ++u)
            velocities_.row(u) += drive_.gradient_std * signs.draw(models_.cols());
        Eigen::MatrixXd message = models_ - velocities_;
        if (drive_.correction == Correction::exact_diffusion) {
            models_ += message - carried_;
            carried_ = std::move(message);
        } else {
            models_ = std::move(message);
        }
    }

    /// @param rounding its standard deviation in every exchange.
    /// @param squares of differences are added to these, one an exchange.
    void exchange(const GossipPolynomial& gossip,
                  const std::vector<double>& rounding,
                  Signs& signs,
                  std::vector<double>& squares) {
        Eigen::MatrixXd earlier, combined, error = models_;
        if (gossip.combines()) combined = gossip.share(0) * models_;
        for (int step = 0; step < gossip.steps(); ++step) {
            const auto k = static_cast<std::size_t>(step);
            squares[k] += (models_ - last_).squaredNorm() / static_cast<double>(models_.size());
            for (Eigen::Index u = 0; u < error.rows(); ++u)
                error.row(u) = rounding[k] * signs.draw(error.cols());
            last_ = models_ - error;
            const double before = gossip.before(step);
            Eigen::MatrixXd mixed = gossip.here(step) * (drive_.mixing.sparse() * last_ + error);
            if (before != 0) mixed -= before * earlier;
            earlier = std::move(models_);
            models_ = std::move(mixed);
            if (gossip.combines()) combined += gossip.share(step + 1) * models_;
        }
        if (gossip.combines()) models_ = std::move(combined);
    }

  private:
    Eigen::MatrixXd noise(Signs& signs) {
        const NoisePlan& plan = drive_.plan;
        Eigen::MatrixXd fresh(static_cast<Eigen::Index>(plan.streams.size()), models_.cols());
        for (Eigen::Index k = 0; k < fresh.rows(); ++k) fresh.row(k) = signs.draw(fresh.cols());
        Eigen::MatrixXd noise = Eigen::MatrixXd::Zero(models_.rows(), models_.cols());
        for (const NoiseRow& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j)
                noise.row(row.sender) +=
                    deviation_ * row.coefficients[j] * fresh.row(row.streams[j]);
        if (factor_.size() == 0) return noise;
        // C_time v = z, a row at a time.
        const auto t = static_cast<Eigen::Index>(past_.size());
        for (Eigen::Index s = 0; s < t; ++s)
            if (factor_(t, s) != 0) noise -= factor_(t, s) * past_[static_cast<std::size_t>(s)];
        noise /= factor_(t, t);
        return past_.emplace_back(std::move(noise));
    }

    const MessageDrive& drive_;
    double deviation_;
    Eigen::MatrixXd factor_;             // empty: independent rounds
    std::vector<Eigen::MatrixXd> past_;  // noise, with a factor
    Eigen::MatrixXd models_, velocities_, carried_, last_;
};

std::vector<double> roots(std::vector<double> squares, long count) {
    for (double& square : squares) square = std::sqrt(square / static_cast<double>(count));
    return squares;
}

/// The smallest power of two that is at least so much, log2.
int exponent_for(double motion) {
    int exponent = 0;
    const double part = std::frexp(least_of_motion * motion, &exponent);
    if (part == 0.5) --exponent;
    return std::clamp(exponent, smallest_exponent_allowed, largest_exponent_allowed);
}

int largest_of(const std::vector<int>& exponents) {
    return exponents.empty() ? smallest_exponent_allowed : std::ranges::max(exponents);
}

std::vector<int> exponents_of(const std::vector<double>& motion, double step_size) {
    std::vector<int> exponents;
    for (const double one : motion) exponents.push_back(exponent_for(one * step_size));
    return exponents;
}

}  // namespace

namespace {

/// @param rounding standard deviation of what is rounded away in every exchange.
MessageMotion motion_with(const MessageDrive& drive, const MessageMotion& rounding) {
    constexpr long most_rounds = 96;
    constexpr Eigen::Index values = 4000;  // a round, for the mean
    const long rounds = std::clamp(drive.rounds, 1L, most_rounds);
    const long counted = std::max(1L, rounds / 3);
    const Eigen::Index samples = std::max<Eigen::Index>(1, values / drive.mixing.agents());
    Signs signs;
    MotionModel model(drive, samples, rounds);
    const std::vector<double> none(rounding.of_round.size(), 0);
    std::vector<double> squares = none, final_squares(rounding.of_final.size(), 0);
    for (long round = 0; round < rounds; ++round) {
        if (round == rounds - counted) squares = none;
        model.make_message(signs);
        model.exchange(drive.gossip, rounding.of_round, signs, squares);
    }
    model.exchange(drive.final_gossip, rounding.of_final, signs, final_squares);
    return {roots(std::move(squares), counted), roots(std::move(final_squares), 1)};
}

}  // namespace

MessageMotion predicted_motion(const MessageDrive& drive) {
    const auto zeros = [](const GossipPolynomial& gossip) {
        return std::vector<double>(static_cast<std::size_t>(gossip.steps()), 0);
    };
    // Rounding itself moves messages, most where they move little.
    MessageMotion rounding = motion_with(drive, {zeros(drive.gossip), zeros(drive.final_gossip)});
    for (std::vector<double>* const all : {&rounding.of_round, &rounding.of_final})
        for (double& one : *all) one *= usual_of_motion / std::sqrt(12.0);
    return motion_with(drive, rounding);
}

MessageSteps::MessageSteps(const MessageMotion& motion, const StepSchedule& steps, long rounds)
    : rounds_(rounds) {
    const std::vector<double> sizes = steps.over(rounds);
    const double largest = std::ranges::max(sizes);
    of_round_ = exponents_of(motion.of_round, largest);
    of_final_ = exponents_of(motion.of_final, largest);
    for (long round = 0; round < rounds; ++round) {
        const int halvings =
            std::min(most_halvings, std::ilogb(largest / sizes[static_cast<std::size_t>(round)]));
        if (halvings_.empty() || halvings_.back().second != halvings)
            halvings_.emplace_back(round, halvings);
    }
}

int MessageSteps::halvings_at(long round) const {
    const auto after = std::ranges::upper_bound(halvings_, round, {}, &std::pair<long, int>::first);
    return after == halvings_.begin() ? 0 : std::prev(after)->second;
}

int MessageSteps::smallest_exponent() const {
    return std::max(largest_of(of_round_), largest_of(of_final_)) - most_halvings;
}

int MessageSteps::exponent(ExchangeId id) const {
    const std::vector<int>& exponents = id.round < rounds_ ? of_round_ : of_final_;
    if (id.step < 0 || id.step >= std::ssize(exponents))
        throw Error(ExitCode::other,
                    fmt::format("no step of messages for round {}, step {}", id.round, id.step));
    return std::max(exponents[static_cast<std::size_t>(id.step)] - halvings_at(id.round),
                    smallest_exponent());
}

double MessageSteps::at(ExchangeId id) const { return std::ldexp(1.0, exponent(id)); }

double MessageSteps::limit() const {
    return std::ldexp((1 - 0x1p-10) * 0x1p30, smallest_exponent());
}

bool MessageSteps::near(const MessageSteps& other) const {
    if (of_round_.size() != other.of_round_.size() || of_final_.size() != other.of_final_.size())
        return false;
    const auto close = [](int a, int b) { return std::abs(a - b) <= 1; };
    if (!std::ranges::equal(of_round_, other.of_round_, close) ||
        !std::ranges::equal(of_final_, other.of_final_, close))
        return false;
    const auto agrees = [&](const std::pair<long, int>& change) {
        return close(halvings_at(change.first), other.halvings_at(change.first));
    };
    return std::ranges::all_of(halvings_, agrees) && std::ranges::all_of(other.halvings_, agrees);
}

std::string MessageSteps::text() const {
    std::vector<std::string> changes;
    for (const auto& [round, halvings] : halvings_)
        changes.push_back(fmt::format("{}:{}", round, halvings));
    return fmt::format(
        "{};{};{}", fmt::join(of_round_, ","), fmt::join(of_final_, ","), fmt::join(changes, ","));
}

MessageSteps MessageSteps::parse(std::string_view text, long rounds) {
    const std::vector<std::string_view> parts = split(text, ';');
    if (parts.size() != 3)
        throw ConfigError(
            "steps of messages: three lists are needed (allowed: EXPONENTS;"
            "EXPONENTS;ROUND:HALVINGS,...)");
    const auto number = [](std::string_view what, long long least, long long most) {
        const long long value = parse_integer("steps of messages", std::string(what));
        require_in_range("steps of messages",
                         static_cast<double>(value),
                         static_cast<double>(least),
                         static_cast<double>(most));
        return value;
    };
    const auto exponents = [&](std::string_view list) {
        std::vector<int> all;
        if (list.empty()) return all;
        for (const std::string_view one : split(list, ','))
            all.push_back(
                static_cast<int>(number(one, smallest_exponent_allowed, largest_exponent_allowed)));
        return all;
    };
    MessageSteps steps(rounds);
    steps.of_round_ = exponents(parts[0]);
    steps.of_final_ = exponents(parts[1]);
    for (const std::string_view change : split(parts[2], ',')) {
        const std::vector<std::string_view> ends = split(change, ':');
        if (ends.size() != 2)
            throw ConfigError(
                fmt::format("steps of messages: '{}' is not ROUND:HALVINGS", std::string(change)));
        const long least = steps.halvings_.empty() ? 0 : steps.halvings_.back().first + 1;
        const long first = number(ends[0], least, rounds - 1);
        steps.halvings_.emplace_back(first, static_cast<int>(number(ends[1], 0, most_halvings)));
    }
    return steps;
}

}  // namespace sotto
