#include "audit/likelihood_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// Signs as text, one character a round.
std::string text_of(const Eigen::VectorXd& signs) {
    std::string text;
    for (const double sign : signs) text += sign > 0 ? '+' : sign < 0 ? '-' : '0';
    return text;
}

std::string or_infinite(double value) { return number_text(value, 4); }

Json figures_json(const Hypothesis& hypothesis, const AttackFigures& figures) {
    const bool gaussian = !std::isnan(hypothesis.mu_theory);
    Json json;
    json["mu_theory"] = number_json(hypothesis.mu_theory);
    json["mu_empirical"] = gaussian ? number_json(figures.mu) : Json();
    json["mu_lower"] = gaussian ? number_json(figures.lower) : Json();
    json["mu_upper"] = gaussian ? number_json(figures.upper) : Json();
    json["trials"] = figures.trials;
    json["epsilon_theory"] = number_json(hypothesis.epsilon_theory);
    json["epsilon_lower"] = number_json(figures.epsilon_lower);
    return json;
}

Json hypothesis_json(const Hypothesis& hypothesis, const HypothesisVerdict& verdict) {
    Json json;
    json["hypothesis"] = hypothesis.name;
    json["signs"] = text_of(hypothesis.signs);
    json.update(figures_json(hypothesis, verdict.figures));
    json["exceeds"] = verdict.exceeds();
    return json;
}

Json whiteness_json(const WhitenessFigures& whiteness) {
    return {{"values", whiteness.dimensions},
            {"samples", whiteness.samples},
            {"variance", whiteness.variance},
            {"largest_correlation", whiteness.largest_correlation},
            {"p_value", whiteness.p_value}};
}

std::string hypothesis_line(const Hypothesis& hypothesis, const HypothesisVerdict& verdict) {
    const AttackFigures& figures = verdict.figures;
    const bool gaussian = !std::isnan(hypothesis.mu_theory);
    return fmt::format(
        "  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}{}\n",
        hypothesis.name,
        figures.trials,
        or_infinite(hypothesis.mu_theory),
        gaussian ? or_infinite(figures.mu) : "-",
        gaussian ? fmt::format("{} to {}", or_infinite(figures.lower), or_infinite(figures.upper))
                 : "-",
        or_infinite(hypothesis.epsilon_theory),
        or_infinite(figures.epsilon_lower),
        verdict.exceeds() ? "  EXCEEDS" : "");
}

}  // namespace

std::size_t LikelihoodResult::strongest() const {
    const auto best = std::ranges::max_element(design.hypotheses, {}, &Hypothesis::epsilon_theory);
    return static_cast<std::size_t>(best - design.hypotheses.begin());
}

Json LikelihoodResult::json() const {
    const Hypothesis& strong = design.hypotheses[strongest()];
    Json json = run_json(*this);
    json["view"] = view;
    json["target"] = design.target;
    json.update(figures_json(strong, verdicts[strongest()].figures));
    json["infinite"] = std::isinf(strong.epsilon_theory);
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    json["hypothesis"] = strong.name;
    json["hypotheses"] = Json::array();
    for (std::size_t h = 0; h < verdicts.size(); ++h)
        json["hypotheses"].push_back(hypothesis_json(design.hypotheses[h], verdicts[h]));
    json["claim"] = {{"mu", number_json(design.claim_mu)},
                     {"epsilon", number_json(design.claim_epsilon)},
                     {"argument", design.argument}};
    json["noise_as_accounted"] = noise_as_accounted;
    if (whiteness) json["whiteness"] = whiteness_json(*whiteness);
    if (mask_pairs > 0) json["mask_pairs"] = mask_pairs;
    add_ending(json, *this);
    return json;
}

std::string LikelihoodResult::question() const {
    return fmt::format("asks about agent {}", design.target);
}

std::string LikelihoodResult::tables() const {
    std::string text = fmt::format("  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}\n",
                                   "hypothesis",
                                   "trials",
                                   "mu theory",
                                   "measured",
                                   fmt::format("{:g}% interval", 100 * level),
                                   "eps theory",
                                   "eps at least");
    for (std::size_t h = 0; h < verdicts.size(); ++h)
        text += hypothesis_line(design.hypotheses[h], verdicts[h]);
    text += fmt::format(
        "  the accountant's bound for any contributions: {}epsilon {} ({})\n",
        std::isnan(design.claim_mu) ? "" : fmt::format("mu {}, ", or_infinite(design.claim_mu)),
        or_infinite(design.claim_epsilon),
        design.argument);
    if (whiteness)
        text += fmt::format(
            "  noise: mean square {:.5f} of what the plan says, largest of {} correlations {:.2f} "
            "standard deviations (p = {:.3g})\n",
            whiteness->variance,
            whiteness->dimensions * (whiteness->dimensions - 1) / 2,
            whiteness->largest_correlation,
            whiteness->p_value);
    if (mask_pairs > 0) text += fmt::format("  masks: {} pairs of shares compared\n", mask_pairs);
    return text;
}

std::string LikelihoodResult::agreement() const {
    return std::isinf(design.claim_epsilon)
               ? fmt::format(
                     "what was seen agrees with the accountant, which says that agent {} is "
                     "NOT PROTECTED from this view",
                     design.target)
               : "what was seen agrees with the accountant";
}

}  // namespace sotto
