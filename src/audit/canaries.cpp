#include "audit/canaries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "audit/attack_statistics.hpp"
#include "audit/choice_audit.hpp"
#include "audit/person_canaries.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "learn/canary.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_losses.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_innovations.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;

constexpr long most_recorded_trials = 10000000;
constexpr double largest_contribution = 1e100;  // its square is finite too

VectorXd factors_from_json(const JsonValue& json) {
    const auto factors = json.numbers();
    if (std::ranges::any_of(factors, [](double factor) { return std::abs(factor) > 1; }))
        json.fail("numbers from -1 to 1");
    return Eigen::Map<const VectorXd>(factors.data(), static_cast<Index>(factors.size()));
}

/// @param targets 0 in a file without sides.
Hypothesis hypothesis_from_json(const JsonValue& json, std::size_t targets) {
    Hypothesis hypothesis;
    hypothesis.name = json.at("hypothesis").text();
    hypothesis.signs = factors_from_json(json.at("signs"));
    if (targets == 0) return hypothesis;
    hypothesis.sides = factors_from_json(json.at("sides"));
    if (hypothesis.sides.size() != static_cast<Index>(targets))
        json.at("sides").fail(fmt::format("{} numbers, one per target", targets));
    return hypothesis;
}

constexpr int version_of_agents = 1, version_of_persons = 2;

std::vector<int> targets_from_json(const JsonValue& json) {
    std::vector<int> targets;
    for (const JsonValue& entry : json.items()) targets.push_back(entry.integer<int>(0));
    if (targets.empty() ||
        std::ranges::adjacent_find(targets, std::greater_equal()) != targets.end())
        json.fail("ascending numbers of agents");
    return targets;
}

bool in_range(const AuditDesign& design) {
    const auto fits = [&](const Hypothesis& hypothesis) {
        return hypothesis.signs.size() == design.hypotheses.front().signs.size() &&
               hypothesis.signs.size() > 0;
    };
    return !design.hypotheses.empty() && std::ranges::all_of(design.hypotheses, fits);
}

}  // namespace

VectorXd AuditDesign::secret_signs() const {
    const auto count = static_cast<Index>(hypotheses.size());
    VectorXd result(trials);
    for (Index h = 0; h < count; ++h) {
        std::vector<double> mine;
        for (Index i = h; i < trials; i += count) mine.push_back(mine.size() % 2 == 0 ? 1 : -1);
        SeededRandom random(seed, "canary signs", static_cast<std::uint64_t>(h));
        random.shuffle(mine);
        for (std::size_t k = 0; k < mine.size(); ++k)
            result(h + count * static_cast<Index>(k)) = mine[k];
    }
    return result;
}

MatrixXd AuditDesign::patterns() const {
    MatrixXd result(hypotheses.front().signs.size(), static_cast<Index>(hypotheses.size()));
    for (Index h = 0; h < result.cols(); ++h)
        result.col(h) = hypotheses[static_cast<std::size_t>(h)].signs;
    return result;
}

VectorXd AuditDesign::sides_of(std::size_t place) const {
    VectorXd sides(static_cast<Index>(hypotheses.size()));
    for (Index h = 0; h < sides.size(); ++h) {
        const VectorXd& of_hypothesis = hypotheses[static_cast<std::size_t>(h)].sides;
        sides(h) = of_hypothesis.size() == 0 ? 1 : of_hypothesis(static_cast<Index>(place));
    }
    return sides;
}

std::string AuditDesign::whom() const {
    return targets.size() == 1 ? fmt::format("agent {}", targets.front())
                               : fmt::format("a person at agents {}", fmt::join(targets, ", "));
}

std::string canaries_json(const AuditDesign& design) {
    const bool person = design.targets.size() > 1;
    Json json;
    json["format"] = "sotto-canaries";
    json["version"] = person ? version_of_persons : version_of_agents;
    if (person)
        json["targets"] = design.targets;
    else
        json["target"] = design.targets.front();
    json["seed"] = design.seed;
    json["trials"] = design.trials;
    json["contribution"] = design.contribution;
    json["hypotheses"] = Json::array();
    for (const Hypothesis& hypothesis : design.hypotheses) {
        json["hypotheses"].push_back(
            {{"hypothesis", hypothesis.name},
             {"signs", std::vector<double>(hypothesis.signs.begin(), hypothesis.signs.end())}});
        if (person)
            json["hypotheses"].back()["sides"] =
                std::vector<double>(hypothesis.sides.begin(), hypothesis.sides.end());
    }
    return json.dump(1) + "\n";
}

AuditDesign canaries_from_json(std::string_view text, const std::string& source) try {
    const JsonDocument document(text);
    const JsonValue json = document.root();
    (void)json.at("format");  // what is no object is refused as another file
    const bool person = json.find("targets").has_value();
    document.require_format("sotto-canaries", person ? version_of_persons : version_of_agents);
    AuditDesign design;
    design.targets = person ? targets_from_json(json.at("targets"))
                            : std::vector<int>{json.at("target").integer<int>(0)};
    design.seed = json.at("seed").integer<std::uint64_t>();
    design.trials = json.at("trials").integer<long>(fewest_trials, most_recorded_trials);
    design.contribution = json.at("contribution").number();
    if (!(design.contribution > 0 && design.contribution <= largest_contribution))
        json.at("contribution").fail(fmt::format("above 0 and at most {}", largest_contribution));
    for (const JsonValue& entry : json.at("hypotheses").items())
        design.hypotheses.push_back(
            hypothesis_from_json(entry, person ? design.targets.size() : 0));
    if (!in_range(design)) json.at("hypotheses").fail("hypotheses with equally many signs each");
    return design;
} catch (const DataError& error) {
    throw DataError(fmt::format("{}: not canaries ({})", source, error.what()));
}

LocalTask make_canary_task(const AuditDesign& design, double divisor, const Control& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        Contributions contributions;
        contributions.signs = design.patterns();
        contributions.values = VectorXd::Zero(design.trials);
        const auto target = std::ranges::find(design.targets, agent);
        if (target != design.targets.end()) {
            const VectorXd sides =
                design.sides_of(static_cast<std::size_t>(target - design.targets.begin()));
            contributions.values = design.contribution * divisor * design.secret_signs();
            for (Index i = 0; i < design.trials; ++i)
                contributions.values(i) *= sides(i % sides.size());
        }
        task.objectives.push_back(make_canary_objective(std::move(contributions)));
    }
    task.initial = VectorXd::Zero(design.trials);
    task.description = fmt::format(
        "audit: {} scalar models, of which {} contributes canaries", design.trials, design.whom());
    task.statements.push_back(
        "Audit: every coordinate is a model and a trial of its own, clipped by itself; what this "
        "ledger says holds for each coordinate by itself, not for all of them together. The inputs "
        "are canaries, fixed in advance.");
    task.fixed_inputs = true;
    task.rows_are_rounds = true;
    task.coordinates = true;
    return task;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double trials_without_mu = 1e4;
constexpr long most_trials = 200000;         // of all hypotheses, by default
constexpr double most_message_values = 4e8;  // of all agents and rounds: 3.2 GB

bool is_gaussian(const AuditSubject& subject) {
    return subject.account->plan.distribution() == StreamDistribution::gaussian;
}

double sensitivity_of(const AuditSubject& subject, int agent) {
    return subject.account->exposures[static_cast<std::size_t>(agent)].sensitivity;
}

/// Upper bound of what the view learns of every target: mu, in units of its own sensitivity.
std::vector<double> largest_losses(const AuditSubject& subject,
                                   const std::vector<int>& targets,
                                   int threads) {
    ViewOptions options;
    options.threads = threads;
    std::vector<double> result;
    const auto losses =
        view_losses(subject.process, subject.account->use, subject.view, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t)
        result.push_back(sensitivity_of(subject, targets[t]) * std::sqrt(losses[t].certified()));
    return result;
}

/// By rounds, as recorded. Nothing if it is infinite, or under Laplace noise.
std::optional<MatrixXd> gram_of(const AuditSubject& subject, int target) {
    if (!is_gaussian(subject)) return std::nullopt;
    MessageProcess recorded = subject.process;
    recorded.final_gossip = 0;
    return view_gram(recorded, subject.view, target);
}

int choose_target(const AuditConfig& config, const AuditSubject& subject) {
    const std::optional<int> asked = asked_target(config, subject);
    const std::vector<int> targets =
        asked ? std::vector<int>{*asked}
              : agents_outside(subject.view, subject.topography.graph.agents());
    return most_exposed(targets, largest_losses(subject, targets, config.train.threads));
}

/// Without those that differ in sign only.
std::vector<Hypothesis> choose_hypotheses(const std::vector<SignPattern>& wanted,
                                          const std::optional<MatrixXd>& gram,
                                          const PlanConfig& plan,
                                          std::uint64_t seed) {
    std::vector<Hypothesis> hypotheses;
    for (const SignPattern pattern : wanted) {
        const VectorXd signs =
            make_signs(pattern, gram, static_cast<Index>(plan.rounds), plan.participation, seed);
        if (std::ranges::none_of(hypotheses, [&](const Hypothesis& other) {
                return other.signs == signs || other.signs == -signs;
            }))
            hypotheses.push_back({.name = sign_patterns.name_of(pattern), .signs = signs});
    }
    return hypotheses;
}

/// Trials per hypothesis for the interval that is widest relative to mu, and for private choices.
long choose_trials(const AuditConfig& config,
                   const std::vector<Hypothesis>& hypotheses,
                   int agents) {
    if (config.trials) {
        require_in_range("--trials", static_cast<double>(*config.trials), fewest_trials, 1e7);
        return *config.trials;
    }
    double each =
        config.private_choice ? trials_for_choices(choice_count(config), usual_choices) : 0;
    for (const Hypothesis& hypothesis : hypotheses)
        each = std::max(each,
                        std::isfinite(hypothesis.mu_theory) && hypothesis.mu_theory > 0
                            ? trials_for_width(hypothesis.mu_theory, config.width, config.level)
                            : trials_without_mu);
    const PlanConfig& plan = config.train.plan;
    const auto count = static_cast<double>(hypotheses.size());
    const double values = static_cast<double>(plan.rounds) * exchanges_of(plan) * agents;
    each = std::min(each, std::min<double>(most_trials, most_message_values / values) / count);
    return static_cast<long>(std::max<double>(each, fewest_trials));
}

void ask_about_agent(AuditDesign& design,
                     const std::vector<SignPattern>& wanted,
                     const AuditConfig& config,
                     const AuditSubject& subject) {
    const int target = choose_target(config, subject);
    design.targets = {target};
    design.contribution = sensitivity_of(subject, target) / 2;
    design.hypotheses =
        choose_hypotheses(wanted, gram_of(subject, target), config.train.plan, design.seed);
}

void ask_about_person(AuditDesign& design,
                      const std::vector<SignPattern>& wanted,
                      const AuditConfig& config,
                      const AuditSubject& subject) {
    design.targets = choose_person(config, subject);
    // Agents have equal shares; otherwise this much is allowed to each of them.
    double least = infinity;
    for (const int agent : design.targets) least = std::min(least, sensitivity_of(subject, agent));
    design.contribution = least / 2;
    design.hypotheses = choose_person_hypotheses(wanted, design, subject);
}

/// The hypothesis that reveals most alone, so that all trials are of it.
void keep_strongest(AuditDesign& design) {
    const auto strongest =
        std::ranges::max_element(design.hypotheses, {}, &Hypothesis::epsilon_theory);
    design.hypotheses = {Hypothesis(*strongest)};
}

}  // namespace

AuditDesign design_audit(const AuditConfig& config, const AuditSubject& subject) {
    const auto wanted = parse_hypothesis(config.hypothesis);
    require_in_range("--width", config.width, 1e-4, 10);
    AuditDesign design;
    design.seed = config.train.task.seed;
    design.unit_agents = config.train.plan.unit_agents;
    if (design.unit_agents > 1)
        ask_about_person(design, wanted, config, subject);
    else
        ask_about_agent(design, wanted, config, subject);
    design = accounted(std::move(design), subject, config.train.threads);
    if (config.private_choice) keep_strongest(design);
    design.trials = choose_trials(config, design.hypotheses, subject.topography.graph.agents()) *
                    static_cast<long>(design.hypotheses.size());
    if (config.private_choice) require_choices(choice_count(config), design.trials);
    return design;
}

AuditDesign accounted(AuditDesign design, const AuditSubject& subject, int threads) {
    if (design.unit_agents > 1) return accounted_for_person(std::move(design), subject);
    const AccountSubject& account = *subject.account;
    const int target = design.targets.front();
    const Guarantee claim = guarantee_of(
        account.plan, largest_losses(subject, {target}, threads).front(), account.delta);
    design.claim_mu = claim.loss.mu().value_or(not_a_number);
    design.claim_epsilon = claim.epsilon;
    design.argument =
        argument_of(subject.view,
                    Inputs::fixed,
                    counts_all_messages(subject.process, account.use.participation, subject.view))
            .text;
    const std::optional<MatrixXd> gram = gram_of(subject, target);
    const double unit = sensitivity_of(subject, target);
    for (Hypothesis& hypothesis : design.hypotheses) {
        if (!is_gaussian(subject)) {
            hypothesis.mu_theory = not_a_number;
            hypothesis.epsilon_theory = claim.epsilon;
            continue;
        }
        const double squared = gram ? hypothesis.signs.dot(*gram * hypothesis.signs) : infinity;
        hypothesis.mu_theory = unit * std::sqrt(squared);
        hypothesis.epsilon_theory = gdp_epsilon(hypothesis.mu_theory, account.delta);
    }
    return design;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounds of the participation pattern that starts in round `first`.
VectorXd pattern_from(Index rounds, long cycle, Index first) {
    VectorXd signs = VectorXd::Zero(rounds);
    for (Index t = first; t < rounds; t += cycle) signs(t) = 1;
    return signs;
}

VectorXd constant_signs(const std::optional<MatrixXd>& gram, Index rounds, Index cycle) {
    VectorXd best = pattern_from(rounds, cycle, 0);
    if (!gram) return best;
    const auto squared = [&](const VectorXd& signs) { return signs.dot(*gram * signs); };
    for (Index first = 1; first < cycle; ++first) {
        VectorXd other = pattern_from(rounds, cycle, first);
        // For ties, rounding must not choose: it differs between machines.
        if (squared(other) > squared(best) * (1 + 1e-9)) best = std::move(other);
    }
    return best;
}

VectorXd with_random_signs(VectorXd signs, std::uint64_t seed) {
    SeededRandom random(seed, "audit hypothesis");
    for (double& sign : signs)
        if (sign != 0 && random.below(2) == 0) sign = -1;
    return signs;
}

}  // namespace

std::vector<SignPattern> parse_hypothesis(const std::string& text) {
    if (text == "all") return {SignPattern::constant, SignPattern::random, SignPattern::worst};
    std::vector<std::string> allowed = sign_patterns.names();
    allowed.insert(allowed.begin(), "all");
    if (std::ranges::find(allowed, text) == allowed.end())
        throw unknown_name_error("--hypothesis", text, allowed);
    return {sign_patterns.parse("--hypothesis", text)};
}

VectorXd make_signs(SignPattern pattern,
                    const std::optional<MatrixXd>& gram,
                    Index rounds,
                    const Participation& participation,
                    std::uint64_t seed) {
    if (pattern == SignPattern::worst && gram) return worst_signs(*gram, participation);
    VectorXd signs = constant_signs(gram, rounds, std::min<Index>(participation.cycle, rounds));
    return pattern == SignPattern::constant ? signs : with_random_signs(std::move(signs), seed);
}

}  // namespace sotto
