#include "agent/contribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/value_range.hpp"
#include "noise/noise_source.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// C without what rounding messages to the grid may add to the sensitivity.
double clip_with_room(const ContributionRule& rule,
                      long round,
                      Eigen::Index parameters,
                      double divisor) {
    const double clip_norm = rule.options.clip_norm;
    if (rule.entry == NoiseEntry::gradient) return clip_norm;
    // Two messages before noise that differ by at most eta Delta (Delta >= C / B) differ by at most
    // one grid step per coordinate more after rounding.
    const auto dimension = rule.options.coordinates ? 1.0 : static_cast<double>(parameters);
    const double room = rule.grid_step * (rule.l1_clip ? dimension : std::sqrt(dimension)) *
                        divisor / rule.options.steps.at(round);
    if (!(room <= 1e-3 * clip_norm))
        throw PrivacyError(
            fmt::format("clip-norm: {} leaves no room for rounding messages to the noise's grid "
                        "({:.3g}); use a "
                        "larger --clip-norm or --step-size",
                        clip_norm,
                        rule.grid_step));
    return clip_norm - room;
}

/// Sum of the gradients at y_0, ..., y_{E-1}, and of l2 (y_e - y_0), each on its own batch: y_0 is
/// the model, and y_e follows by e steps of eta_t, with regularisation. @param sum d, overwritten.
void sum_local_gradients(const TrainerOptions& options,
                         long round,
                         const Eigen::Ref<const Eigen::VectorXd>& model,
                         LocalAgent& agent,
                         Eigen::Ref<Eigen::VectorXd> sum) {
    const auto rows = [&](int e) {
        return agent.batches.rows(static_cast<std::uint64_t>(round * options.local_steps + e));
    };
    const auto first = rows(0);
    if (first.empty()) {  // it does not take part
        sum.setZero();
        return;
    }
    agent.objective->mean_gradient(model, first, sum);
    const double step = options.steps.at(round);
    Eigen::VectorXd here, gradient(options.local_steps > 1 ? model.size() : 0);
    for (int e = 1; e < options.local_steps; ++e) {
        here = model - step * (sum + e * options.l2 * model);
        agent.objective->mean_gradient(here, rows(e), gradient);
        sum += gradient + options.l2 * (here - model);
    }
}

void contribute_batch(const ContributionRule& rule,
                      long round,
                      const Eigen::Ref<const Eigen::VectorXd>& model,
                      LocalAgent& agent,
                      Eigen::Ref<Eigen::VectorXd> contribution,
                      AgentReport& report) {
    const double probability = rule.options.client_probability;
    sum_local_gradients(rule.options, round, model, agent, contribution);
    contribution /= probability;
    const double clip = clip_with_room(rule, round, model.size(), 1) / probability;
    ++report.gradients;
    const double norm = rule.l1_clip ? contribution.lpNorm<1>() : contribution.norm();
    if (norm > clip) ++report.gradients_shortened;
    const bool finite = rule.options.coordinates
                            ? clip_coordinates_to_grid(contribution, clip, rule.grid_step)
                            : clip_to_grid(contribution, rule.l1_clip, clip, rule.grid_step);
    if (!finite) ++report.gradients_set_to_zero;
}

/// Divides the values, block by block, so that each is read once.
/// @return false if one is not finite; the vector is then divided in part.
bool divide_finite(Eigen::Ref<Eigen::VectorXd> values, double divisor) {
    constexpr Eigen::Index block = 2048;
    for (Eigen::Index first = 0; first < values.size(); first += block) {
        auto part = values.segment(first, std::min(block, values.size() - first));
        if (first_beyond({part.data(), static_cast<std::size_t>(part.size())},
                         std::numeric_limits<double>::max()))
            return false;
        part /= divisor;
    }
    return true;
}

void contribute_records(const ContributionRule& rule,
                        long round,
                        const Eigen::Ref<const Eigen::VectorXd>& model,
                        LocalAgent& agent,
                        Eigen::Ref<Eigen::VectorXd> contribution,
                        AgentReport& report) {
    const auto rows = agent.batches.rows(static_cast<std::uint64_t>(round));
    // Records on the grid B * gamma: their sum divided by B is exact and on the grid gamma.
    const std::int64_t set_to_zero = agent.objective->records_set_to_zero();
    const std::int64_t shortened = agent.objective->records_shortened();
    const auto divisor = static_cast<double>(agent.batch_size);
    agent.objective->clipped_gradient_sum(model,
                                          rows,
                                          clip_with_room(rule, round, model.size(), divisor),
                                          divisor * rule.grid_step,
                                          contribution);
    report.records_set_to_zero += agent.objective->records_set_to_zero() - set_to_zero;
    if (agent.objective->counts_shortened_records()) {
        report.gradients += std::ssize(rows);
        report.gradients_shortened += agent.objective->records_shortened() - shortened;
    }
    agent.padding.work(*agent.objective,
                       model,
                       std::ssize(rows),
                       rule.options.clip_norm,
                       divisor * rule.grid_step);
    if (divide_finite(contribution, divisor)) return;
    contribution.setZero();
    ++report.gradients_set_to_zero;
}

}  // namespace

void contribute(const ContributionRule& rule,
                long round,
                const Eigen::Ref<const Eigen::VectorXd>& model,
                LocalAgent& agent,
                Eigen::Ref<Eigen::VectorXd> contribution,
                AgentReport& report) {
    if (protects_agents(rule.options.adjacency))
        contribute_batch(rule, round, model, agent, contribution, report);
    else
        contribute_records(rule, round, model, agent, contribution, report);
}

bool clip_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                  bool l1,
                  double clip_norm,
                  double grid_step) {
    const auto norm = ranged_norm(gradient, l1);
    if (!norm) {
        gradient.setZero();
        return false;
    }
    // Covers the rounding of the norm (at most one part in 2^53 per term, where small terms are
    // lost beside a large one) and of the product.
    const double margin = 1 - static_cast<double>(gradient.size() + 16) * 0x1p-53;
    if (norm->longer_than(clip_norm * margin))
        gradient *= clip_norm / norm->value * margin;
    else if (norm->exponent != 0)
        gradient *= std::ldexp(1.0, norm->exponent);
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return true;
}

bool clip_coordinates_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                              double clip_norm,
                              double grid_step) {
    const bool finite = gradient.allFinite();
    for (double& value : gradient) value = std::isfinite(value) ? value : 0;
    gradient = gradient.cwiseMin(clip_norm).cwiseMax(-clip_norm);
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return finite;
}

}  // namespace sotto
