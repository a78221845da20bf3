#include "audit/choice_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "audit/attack_statistics.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "privacy/normal_tails.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "training/choice_draws.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double deviations_left = 5;

/// f''(1) + f'(1) - f'(1)^2, with f'(u) proportional to (1 - (1 - g) u)^-(1 + eta).
double count_variance(const TrainingCount& count) {
    const double g = stop_parameter(count), mean = count.mean;
    return std::max(0.0, mean * (1 + count.shape) * (1 - g) / g + mean - mean * mean);
}

/// Trainings of one sign that suffice for so many choices.
double trainings_for(const TrainingCount& count, double choices) {
    return std::ceil(choices * count.mean +
                     deviations_left * std::sqrt(choices * count_variance(count)));
}

/// Scores of one sign, in order.
std::vector<double> scores_of_sign(const VectorXd& scores, const VectorXd& signs, double sign) {
    std::vector<double> kept;
    for (Index i = 0; i < scores.size(); ++i)
        if (signs(i) == sign) kept.push_back(scores(i));
    return kept;
}

/// The released scores of one sign.
std::vector<double> best_scores(const std::vector<double>& trials,
                                const TrainingCount& count,
                                const DrawnCount& draw,
                                long& trainings) {
    std::vector<double> released;
    const long choices = choices_from(count, std::ssize(trials));
    auto first = trials.begin();
    for (long k = 0; k < choices && first != trials.end(); ++k) {
        const long taken = std::min<long>(draw(), trials.end() - first);
        released.push_back(*std::max_element(first, first + taken));
        first += taken;
        trainings += taken;
    }
    return released;
}

/// The released scores of each sign against their distribution.
void compare_distribution(ChoiceFigures& figures,
                          const ReleasedScores& released,
                          double mu,
                          double risk) {
    double p_value = 1;
    for (const double sign : {1.0, -1.0}) {
        const std::vector<double> best = scores_of_sign(released.scores, released.signs, sign);
        VectorXd values(std::ssize(best));
        for (std::size_t k = 0; k < best.size(); ++k)
            values(static_cast<Index>(k)) =
                released_at_most(figures.count, normal_above(sign * mu / 2 - best[k]));
        const double distance = distribution_distance(values);
        p_value = std::min(p_value, distance_p_value(distance, std::ssize(best)));
        figures.distance = std::max(figures.distance, distance);
    }
    figures.p_value = std::min(1.0, 2 * p_value);
    if (figures.p_value < risk)
        figures.findings.push_back(fmt::format(
            "the scores that choices released are not distributed as accounted: their distribution "
            "is {:.3g} from that of the best of {:g} trainings on average (p = {:.2g}), so the "
            "number of trainings is not drawn as accounted, or trainings share noise",
            figures.distance,
            figures.count.mean,
            figures.p_value));
}

}  // namespace

TrainingCount choice_count(const AuditConfig& config) {
    if (!config.private_choice)
        throw ConfigError("--private-choice: it is not given, and has no number of trainings");
    return {*config.private_choice, config.choice_shape};
}

double trials_for_choices(const TrainingCount& count, long choices) {
    return 2 * trainings_for(count, std::ceil(static_cast<double>(choices) / 2));
}

long choices_from(const TrainingCount& count, long trainings) {
    long low = 0, high = trainings;  // each choice has one training at least
    while (low < high) {
        const long middle = low + (high - low + 1) / 2;
        const bool fits =
            trainings_for(count, static_cast<double>(middle)) <= static_cast<double>(trainings);
        (fits ? low : high) = fits ? middle : middle - 1;
    }
    return low;
}

void require_choices(const TrainingCount& count, long trials) {
    if (const long choices = 2 * choices_from(count, trials / 2); choices < fewest_choices)
        throw ConfigError(fmt::format(
            "--trials: {} trials suffice for {} choices among {:g} trainings on average (allowed: "
            "{} choices or more, by {:.0f} --trials, or by a smaller --private-choice)",
            trials,
            choices,
            count.mean,
            fewest_choices,
            trials_for_choices(count, fewest_choices)));
}

DrawnCount drawn_counts(const AuditConfig& config) {
    const TrainingCount count = choice_count(config);
    RandomBits bits = secret_bits;
    if (config.train.noise_seed) {
        const auto seeded =
            std::make_shared<SeededRandom>(*config.train.noise_seed, "audited private choice");
        bits = [seeded] { return (*seeded)(); };
    }
    return [count, bits] { return std::ssize(draw_configurations(count, 1, bits)); };
}

ReleasedScores release_best(const VectorXd& scores,
                            const VectorXd& signs,
                            const TrainingCount& count,
                            const DrawnCount& draw) {
    ReleasedScores released;
    std::vector<double> plus =
        best_scores(scores_of_sign(scores, signs, 1), count, draw, released.trainings);
    std::vector<double> minus =
        best_scores(scores_of_sign(scores, signs, -1), count, draw, released.trainings);
    const std::size_t both = plus.size() + minus.size();
    released.scores = released.signs = VectorXd(static_cast<Index>(both));
    // Signs alternate, so that halves have both.
    std::size_t p = 0, m = 0;
    for (std::size_t k = 0; k < both; ++k) {
        const bool take_plus = m == minus.size() || (p < plus.size() && k % 2 == 0);
        released.scores(static_cast<Index>(k)) = take_plus ? plus[p++] : minus[m++];
        released.signs(static_cast<Index>(k)) = take_plus ? 1 : -1;
    }
    return released;
}

double released_at_most(const TrainingCount& count, double probability) {
    return 1 - reached(count, 1 - probability);
}

double distribution_distance(VectorXd values) {
    std::ranges::sort(values);
    const auto n = static_cast<double>(values.size());
    double distance = 0;
    for (Index i = 0; i < values.size(); ++i)
        distance = std::max({distance,
                             values(i) - static_cast<double>(i) / n,
                             static_cast<double>(i + 1) / n - values(i)});
    return distance;
}

double distance_p_value(double distance, long observations) {
    return std::min(1.0,
                    2 * std::exp(-2 * static_cast<double>(observations) * distance * distance));
}

ChoiceFigures measure_choices(const VectorXd& scores,
                              const VectorXd& signs,
                              double mu,
                              double mu_theory,
                              const TrainingCount& count,
                              const DrawnCount& draw,
                              const ChoiceRisks& risks) {
    ChoiceFigures figures;
    figures.count = count;
    require_choices(count, 2 * std::min((signs.array() > 0).count(), (signs.array() < 0).count()));
    const ReleasedScores released = release_best(scores, signs, count, draw);
    figures.choices = released.scores.size();
    figures.trainings_mean =
        static_cast<double>(released.trainings) / static_cast<double>(figures.choices);
    const PrivacyLoss one = PrivacyLoss::gaussian(mu_theory);
    figures.cost = choice_cost({&one, 1}, count, risks.delta);
    figures.epsilon_one = figures.cost.one;
    const auto lower = [&](double level) {
        return measure_attack(released.scores, released.signs, risks.delta, level).epsilon_lower;
    };
    figures.epsilon_lower = lower(risks.level);
    if (const double least = lower(1 - risks.risk); least > figures.cost.epsilon.upper)
        figures.findings.push_back(
            fmt::format("a private choice reveals epsilon {:.4g} at least, the accountant says "
                        "{:.4g}",
                        least,
                        figures.cost.epsilon.upper));
    compare_distribution(figures, released, mu, risks.risk);
    return figures;
}

nlohmann::ordered_json choice_figures_json(const ChoiceFigures& figures) {
    return {{"private_choice", figures.count.mean},
            {"choice_shape", figures.count.shape},
            {"hypothesis", figures.hypothesis},
            {"choices", figures.choices},
            {"trainings_mean", number_json(figures.trainings_mean)},
            {"epsilon_one", number_json(figures.epsilon_one)},
            {"epsilon_theory", number_json(figures.cost.epsilon.upper)},
            {"epsilon_lower", number_json(figures.epsilon_lower)},
            {"distance", number_json(figures.distance)},
            {"p_value", number_json(figures.p_value)},
            {"exceeds", !figures.findings.empty()}};
}

std::string choice_figures_text(const ChoiceFigures& figures) {
    return fmt::format(
        "  private choice: {} choices among {:.4g} trainings on average ({:g} accounted for), of "
        "hypothesis {}\n"
        "  epsilon of a choice: {} by the accountant, {} of one training; at least {} by a "
        "threshold\n"
        "  released scores: at most {:.4f} from their distribution (p = {:.3g}){}\n",
        figures.choices,
        figures.trainings_mean,
        figures.count.mean,
        figures.hypothesis,
        number_text(figures.cost.epsilon.upper, 4),
        number_text(figures.epsilon_one, 4),
        number_text(figures.epsilon_lower, 4),
        figures.distance,
        figures.p_value,
        figures.findings.empty() ? "" : "  EXCEEDS");
}

}  // namespace sotto
