#include "training/training_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sotto {

namespace {

/// Variance of the mean over agents of a round's noise, of one coordinate.
double mean_noise_variance(const NoisePlan& plan) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(std::ssize(plan.streams));
    for (const NoiseRow& row : plan.rows)
        for (std::size_t k = 0; k < row.streams.size(); ++k)
            sums(row.streams[k]) += row.coefficients[k];
    const double mean = plan.scale / plan.agents;
    return mean * mean * sums.squaredNorm() * unit_variance(plan.distribution());
}

/// 20 agents: softmax on MNIST still had an accuracy of 0.46 at 5.2, and 0.13 at 39; logistic on
/// a9a less than the constant prediction from 4.8 on. Below it a training may fail all the same:
/// that shows afterwards.
constexpr double loud = 6;

std::string what_to_do_about_noise(const PlanConfig& config) {
    constexpr std::string_view other =
        "a larger --epsilon, more agents or fewer parameters leave less noise";
    return protects_agents(config.adjacency)
               ? fmt::format(
                     "{}, and so does protecting one record (--adjacency "
                     "record-add-remove)",
                     other)
               : fmt::format("{}, and so does a larger --batch-size", other);
}

}  // namespace

double noise_over_gradients(const NoisePlan& plan, const PlanConfig& config, long dimension) {
    if (plan.entry != NoiseEntry::gradient || plan.temporal.kind != TemporalFactor::Kind::identity)
        return not_a_number;
    // Of long runs so many rounds at equal distances stand for all.
    constexpr long most = 100'000;
    const long rounds = std::min(config.rounds, most);
    const double each = static_cast<double>(config.rounds) / static_cast<double>(rounds);
    double steps = 0, squares = 0;
    for (long i = 0; i < rounds; ++i) {
        const double step =
            config.steps.at(static_cast<long>((static_cast<double>(i) + 0.5) * each));
        steps += each * step;
        squares += each * step * step;
    }
    const double noise =
        std::sqrt(static_cast<double>(dimension) * mean_noise_variance(plan) * squares);
    return noise / (config.clip_norm * steps);
}

std::vector<std::string> warnings_before_rounds(const Run& run, long dimension) {
    std::vector<std::string> warnings;
    const double ratio = noise_over_gradients(run.plan, run.phase, dimension);
    if (ratio > loud)
        warnings.push_back(fmt::format(
            "Noise moves the mean model {:.2g} times as far as gradients can in {} rounds of step "
            "size {:g} and clip norm {:g}: expect no better than chance ({}).",
            ratio,
            run.phase.rounds,
            run.phase.steps.step_size,
            run.phase.clip_norm,
            what_to_do_about_noise(run.phase)));
    if (run.targets.one_class_agents > 0)
        warnings.push_back(fmt::format(
            "{} of {} agents {} training records of one class only, which teach their models "
            "nothing else (deal records in another way with --partition, or check the labels).",
            run.targets.one_class_agents,
            run.plan.agents,
            run.targets.one_class_agents == 1 ? "has" : "have"));
    if (run.targets.constant_accuracy == 1)
        warnings.emplace_back(
            "All test records are of one class, so that accuracy says nothing (give other "
            "--test-data, or check the labels).");
    return warnings;
}

std::vector<std::string> warnings_after_rounds(const TrainResult& result) {
    constexpr double risen = 0.1, clipped = 0.95, no_better = 0.98, standard_errors = 2;
    std::vector<std::string> warnings;
    const double loss = result.evaluation.test_loss_mean_model;
    const Baselines& other = result.baselines;
    const auto& [first, lowest, round] = result.losses;
    // Small against what was learnt, a rise is noise.
    if (loss - lowest > risen * std::max(std::abs(lowest), first - lowest))
        warnings.push_back(
            fmt::format("The test loss rose from {:.4g} after {} rounds to {:.4g} (use a smaller "
                        "--step-size, fewer --rounds, or --step-schedule inverse-sqrt).",
                        lowest,
                        round,
                        loss));
    const double accuracy = result.evaluation.test_accuracy_mean_model;
    const double error = std::sqrt(other.constant_accuracy * (1 - other.constant_accuracy) /
                                   std::max(other.test_records, 1.0));
    const bool constant = std::isfinite(accuracy)
                              ? accuracy < other.constant_accuracy + standard_errors * error
                              : loss > no_better * other.constant_loss;
    if (constant && other.constant_accuracy != 1)
        warnings.emplace_back(
            "The model is no better than the constant prediction, and may have become constant "
            "(try another --step-size or --clip-norm, or a larger --epsilon).");
    if (constant && result.clipped_share > clipped)
        warnings.push_back(fmt::format(
            "The clip shortened {:.1f}% of all gradients, which then say little but a direction "
            "(use a larger --clip-norm, or --clip-norm auto).",
            100 * result.clipped_share));
    return warnings;
}

}  // namespace sotto
