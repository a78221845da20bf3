#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/audit/audit_job.hpp"
#include "core/json_output.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// Signs as text, one character a round.
std::string text_of(const Eigen::VectorXd& signs) {
    std::string text;
    for (const double sign : signs) text += sign > 0 ? '+' : sign < 0 ? '-' : '0';
    return text;
}

std::string or_infinite(double value, int digits = 4) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.{}g}", value, digits);
}

Json figures_json(const Hypothesis& hypothesis, const AttackResult& attack) {
    const AttackFigures& figures = attack.figures;
    const bool gaussian = !std::isnan(hypothesis.mu_theory);
    Json json;
    json["mu_theory"] = number_or_null(hypothesis.mu_theory);
    json["mu_empirical"] = gaussian ? number_or_null(figures.mu) : Json();
    json["mu_lower"] = gaussian ? number_or_null(figures.lower) : Json();
    json["mu_upper"] = gaussian ? number_or_null(figures.upper) : Json();
    json["trials"] = figures.trials;
    json["epsilon_theory"] = number_or_null(hypothesis.epsilon_theory);
    json["epsilon_lower"] = number_or_null(figures.epsilon_lower);
    return json;
}

}  // namespace

std::string audit_report_json(const AuditResult& result) {
    const std::size_t strongest = result.strongest();
    const Hypothesis& strong = result.design.hypotheses[strongest];
    Json json;
    json["attack"] = name_of(Attack::likelihood);
    json["mechanism"] = result.mechanism;
    json["agents"] = result.agents;
    json["rounds"] = result.rounds;
    json["view"] = result.view;
    json["target"] = result.design.target;
    json.update(figures_json(strong, result.attacks[strongest]));
    json["infinite"] = std::isinf(strong.epsilon_theory);
    json["consistent"] = result.consistent;
    json["delta"] = result.delta;
    json["confidence"] = result.level;
    json["hypothesis"] = strong.name;
    json["hypotheses"] = Json::array();
    for (std::size_t h = 0; h < result.attacks.size(); ++h) {
        Json entry;
        entry["hypothesis"] = result.design.hypotheses[h].name;
        entry["signs"] = text_of(result.design.hypotheses[h].signs);
        entry.update(figures_json(result.design.hypotheses[h], result.attacks[h]));
        entry["exceeds"] = result.attacks[h].exceeds;
        json["hypotheses"].push_back(std::move(entry));
    }
    json["claim"] = {{"mu", number_or_null(result.design.claim_mu)},
                     {"epsilon", number_or_null(result.design.claim_epsilon)},
                     {"argument", result.design.argument}};
    json["noise_as_accounted"] = result.noise_as_accounted;
    if (result.whiteness)
        json["whiteness"] = {{"values", result.whiteness->dimensions},
                             {"samples", result.whiteness->samples},
                             {"variance", result.whiteness->variance},
                             {"largest_correlation", result.whiteness->largest_correlation},
                             {"p_value", result.whiteness->p_value}};
    if (result.mask_pairs > 0) json["mask_pairs"] = result.mask_pairs;
    json["findings"] = result.findings;
    json["seed"] = result.design.seed;
    json["seconds"] = result.seconds;
    json["run_directory"] = result.run_directory;
    return json.dump(2) + "\n";
}

std::string audit_report_text(const AuditResult& result) {
    const AuditDesign& design = result.design;
    std::string text = fmt::format("audit: {}, {} agents, {} rounds; {} asks about agent {}\n",
                                   result.mechanism,
                                   result.agents,
                                   result.rounds,
                                   result.view,
                                   design.target);
    text += fmt::format("  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}\n",
                        "hypothesis",
                        "trials",
                        "mu theory",
                        "measured",
                        fmt::format("{:g}% interval", 100 * result.level),
                        "eps theory",
                        "eps at least");
    for (std::size_t h = 0; h < result.attacks.size(); ++h) {
        const Hypothesis& hypothesis = design.hypotheses[h];
        const AttackFigures& figures = result.attacks[h].figures;
        const bool gaussian = !std::isnan(hypothesis.mu_theory);
        text += fmt::format(
            "  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}{}\n",
            hypothesis.name,
            figures.trials,
            or_infinite(hypothesis.mu_theory),
            gaussian ? or_infinite(figures.mu) : "-",
            gaussian
                ? fmt::format("{} to {}", or_infinite(figures.lower), or_infinite(figures.upper))
                : "-",
            or_infinite(hypothesis.epsilon_theory),
            or_infinite(figures.epsilon_lower),
            result.attacks[h].exceeds ? "  EXCEEDS" : "");
    }
    text += fmt::format(
        "  the accountant's bound for any contributions: {}epsilon {} ({})\n",
        std::isnan(design.claim_mu) ? "" : fmt::format("mu {}, ", or_infinite(design.claim_mu)),
        or_infinite(design.claim_epsilon),
        design.argument);
    if (result.whiteness)
        text += fmt::format(
            "  noise: mean square {:.5f} of what the plan says, largest of {} correlations {:.2f} "
            "standard deviations (p = {:.3g})\n",
            result.whiteness->variance,
            result.whiteness->dimensions * (result.whiteness->dimensions - 1) / 2,
            result.whiteness->largest_correlation,
            result.whiteness->p_value);
    if (result.mask_pairs > 0)
        text += fmt::format("  masks: {} pairs of shares compared\n", result.mask_pairs);
    if (result.consistent) {
        text += fmt::format("consistent: what was seen agrees with the accountant ({:.1f} s)\n",
                            result.seconds);
    } else {
        text += "INCONSISTENT:\n";
        for (const auto& finding : result.findings) text += "  - " + finding + "\n";
    }
    return text;
}

}  // namespace sotto
