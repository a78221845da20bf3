#include "planning/noise_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include "core/text_input.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

/// Share of the model after every round in the model that is returned.
std::vector<double> shares_of_models(const ModelAverage& average, long rounds) {
    std::vector<double> shares(static_cast<std::size_t>(rounds), 0.0);
    switch (average.kind) {
        case ModelAverage::Kind::none:
            shares.back() = 1;
            break;
        case ModelAverage::Kind::tail: {
            const long tail = average.tail_rounds(rounds);
            std::fill(shares.end() - tail, shares.end(), 1 / static_cast<double>(tail));
            break;
        }
        case ModelAverage::Kind::exponential: {
            double share = 1 - average.value;
            for (auto round = shares.rbegin(); round != shares.rend(); ++round) {
                *round = share;
                share *= average.value;
            }
            break;
        }
    }
    return shares;
}

}  // namespace

std::vector<double> noise_weights(const PlanConfig& config, double l2) {
    const std::vector<double> shares = shares_of_models(config.average, config.rounds);
    std::vector<double> weights(shares.size());
    double model = 0, velocity = 0;  // how the result moves with the model and u after round t
    for (std::size_t t = weights.size(); t-- > 0;) {
        const double step = config.steps.at(static_cast<long>(t));
        model += shares[t];
        velocity = config.momentum * velocity - step * model;
        weights[t] = velocity * velocity;
        model *= 1 - step * l2 * config.local_steps;
    }
    return weights;
}

std::vector<double> best_noise(const std::vector<double>& weights) {
    const double largest = std::ranges::max(weights);
    const double least = largest / std::pow(most_uneven_noise, 4);
    std::vector<double> relative;
    for (const double weight : weights)
        relative.push_back(std::pow(std::max(weight, least) / largest, -0.25));
    return relative;
}

namespace {

double precisions_of(const std::vector<double>& relative) {
    return std::accumulate(relative.begin(), relative.end(), 0.0, [](double sum, double r) {
        return sum + 1 / (r * r);
    });
}

}  // namespace

double share_left(const std::vector<double>& weights, const std::vector<double>& relative) {
    double left = 0, equal = 0;
    for (std::size_t t = 0; t < weights.size(); ++t) {
        left += weights[t] * relative[t] * relative[t];
        equal += weights[t];
    }
    return left / equal * precisions_of(relative) / static_cast<double>(relative.size());
}

std::vector<double> with_levels(const std::vector<double>& relative, int levels) {
    std::vector<std::size_t> by_size(relative.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::ranges::stable_sort(by_size, {}, [&](std::size_t t) { return relative[t]; });
    if (std::set<double>(relative.begin(), relative.end()).size() <=
        static_cast<std::size_t>(levels))
        return relative;
    std::vector<double> result(relative.size());
    const auto parts = static_cast<std::size_t>(levels);
    for (std::size_t level = 0; level < parts; ++level) {
        const std::size_t begin = level * by_size.size() / parts;
        const std::size_t end = (level + 1) * by_size.size() / parts;
        double precisions = 0;
        for (std::size_t k = begin; k < end; ++k) precisions += std::pow(relative[by_size[k]], -2);
        const double common = std::sqrt(static_cast<double>(end - begin) / precisions);
        for (std::size_t k = begin; k < end; ++k) result[by_size[k]] = common;
    }
    return result;
}

namespace {

/// @throws ConfigError for what is not accounted exactly, or not planned.
void require_possible_schedule(const PlanConfig& config) {
    const auto refuse_if = [&](bool refused, const std::string& why, const std::string& allowed) {
        if (refused)
            throw ConfigError(fmt::format("noise-schedule: {} is not possible {} (allowed: {})",
                                          config.noise_schedule,
                                          why,
                                          allowed));
    };
    refuse_if(config.plan_file.has_value(),
              "with --plan, which says how large the noise of every round is",
              "constant, or a plan made with this schedule");
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    refuse_if(!mechanism.independent_rounds(),
              fmt::format("with mechanism {}, whose noise is not Gaussian noise on gradients that "
                          "is independent between rounds",
                          mechanism.name),
              fmt::format("constant, or --mechanism {}",
                          join(mechanisms_with(&Mechanism::independent_rounds), ", ")));
    refuse_if(config.participation.cycle > 1 || config.participation.is_allocated(),
              fmt::format("with --participation {}, where a record's loss depends on which rounds "
                          "are its own",
                          name_of(config.participation)),
              "constant, or --participation every or poisson");
    refuse_if(config.noise_std.has_value(),
              "with --noise-std, which is the noise of every round",
              "constant, or a budget with --epsilon");
    refuse_if(config.precondition_every > 0,
              "with --precondition-every, which takes the noise of all rounds for equal",
              "constant, or --precondition-every 0");
}

double noise_in_line(std::string_view line, const std::string& where) {
    constexpr std::string_view blanks = " \t";
    line = line.substr(0, line.find('#'));
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return 0;
    line = line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
    const double value = parse_real(where, line);
    require_positive(where, value);
    return value;
}

/// One number above 0 for every round.
std::vector<double> read_schedule(const std::string& path, long rounds) try {
    std::vector<double> relative;
    LineReader reader(path);
    double least = 0, most = 0;
    for (std::string_view line; reader.next(line);) {
        const std::string where = fmt::format("{}:{}", path, reader.line_number());
        const double value = noise_in_line(line, where);
        if (value == 0) continue;
        if (std::ssize(relative) == rounds)
            throw DataError(fmt::format(
                "{}: {} is one number more than there are rounds, {} (one each is needed)",
                where,
                value,
                rounds));
        relative.push_back(value);
        least = least == 0 ? value : std::min(least, value);
        most = std::max(most, value);
        if (most > least * most_uneven_noise)
            throw DataError(
                fmt::format("{}: {} makes noise of rounds more than {:g} times as large as that of "
                            "others, from "
                            "{} to {} (allowed: numbers closer together)",
                            where,
                            value,
                            most_uneven_noise,
                            least,
                            most));
    }
    if (std::ssize(relative) != rounds)
        throw DataError(fmt::format(
            "{}: {} numbers for {} rounds (one each is needed)", path, relative.size(), rounds));
    return relative;
} catch (const ConfigError& error) {
    throw DataError(error.what());  // an invalid number in a file is an error of the data
}

}  // namespace

ScheduledNoise round_noise_of(const PlanConfig& config, double l2) {
    if (config.noise_schedule == constant_noise) return {};
    require_possible_schedule(config);
    const std::vector<double> weights = noise_weights(config, l2);
    ScheduledNoise noise;
    noise.relative = config.noise_schedule == automatic_noise
                         ? best_noise(weights)
                         : read_schedule(config.noise_schedule, config.rounds);
    if (config.participation.is_secret())
        noise.relative = with_levels(noise.relative, most_noise_levels);
    noise.left = share_left(weights, noise.relative);
    return noise;
}

TemporalFactor scheduled_factor(const PlanConfig& config) {
    const std::vector<double>& all = config.round_noise.relative;
    if (all.empty()) return {};
    const long first = config.steps.first_round;
    if (std::ssize(all) != first + config.rounds)
        throw Error(
            ExitCode::other,
            fmt::format(
                "a noise schedule of {} rounds for {} rounds", all.size(), first + config.rounds));
    const std::vector<double> relative(all.begin() + first, all.end());
    const auto [least, most] = std::ranges::minmax(relative);
    constexpr double rounding = 1e-9;
    if (most <= least * (1 + rounding)) return {};
    const double mean = precisions_of(relative) / static_cast<double>(config.rounds);
    TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd(config.rounds, 1)};
    for (long t = 0; t < config.rounds; ++t)
        factor.lower(t, 0) = 1 / (relative[static_cast<std::size_t>(t)] * std::sqrt(mean));
    return factor;
}

NoisePlan with_schedule(NoisePlan plan, TemporalFactor factor) {
    if (factor.kind == TemporalFactor::Kind::identity || plan.noiseless()) return plan;
    const double quietest = factor.lower.maxCoeff(), loudest = factor.lower.minCoeff();
    plan.temporal = std::move(factor);
    plan.grid_step_log2 += std::min(0, static_cast<int>(std::floor(-std::log2(quietest))));
    // Noise beyond 2^51 steps is not rounded as it should be (docs/decisions/grid.md).
    const double reach = tail_radius * largest_deviation(plan) / loudest;
    if (!(reach <= std::ldexp(plan.grid_step(), 51)))
        throw PrivacyError(
            fmt::format("noise schedule: noise of the rounds is too uneven for any grid, {:.3g} to "
                        "{:.3g} times "
                        "that of equal rounds; use a schedule whose numbers are closer together",
                        1 / quietest,
                        1 / loudest));
    plan.validate();
    return plan;
}

void require_asked_schedule(const NoisePlan& plan, const PlanConfig& config) {
    constexpr double alike = 1e-9;  // for powers computed on another machine
    const TemporalFactor asked = scheduled_factor(config);
    const Eigen::MatrixXd& found = plan.temporal.lower;
    if (plan.noiseless()) return;
    const bool fits = asked.kind == plan.temporal.kind && asked.lower.rows() == found.rows() &&
                      asked.lower.cols() == found.cols();
    if (fits && (found.size() == 0 || (found - asked.lower).cwiseAbs().maxCoeff() <=
                                          alike * asked.lower.cwiseAbs().maxCoeff()))
        return;
    throw PrivacyError(fmt::format(
        "the plan is not the one asked for here: the noise of its rounds is not that of "
        "--noise-schedule {}; rank 0 must be started with the same options and files",
        config.noise_schedule));
}

std::string schedule_text(const PlanConfig& config) {
    const TemporalFactor factor = scheduled_factor(config);
    if (factor.kind == TemporalFactor::Kind::identity)
        return config.noise_schedule == constant_noise
                   ? std::string()
                   : fmt::format("{}: equal noise in all rounds", config.noise_schedule);
    return fmt::format(
        "{}: rounds have {:.3g} to {:.3g} times the noise below, with the sum of 1/variance of "
        "equal "
        "noise;\n           in the mean of the final models this leaves {:.3g} times the "
        "variance{}",
        config.noise_schedule,
        1 / factor.lower.maxCoeff(),
        1 / factor.lower.minCoeff(),
        config.round_noise.left,
        config.participation.is_secret() ? " (sampled rounds need somewhat more if their noise "
                                           "differs, which the noise below has)"
                                         : "");
}

}  // namespace sotto
