#include "account/account_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "account/person_account.hpp"
#include "account/published_bound.hpp"
#include "account/worst_coalition.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/stopwatch.hpp"
#include "privacy/ledger_json.hpp"
#include "privacy/noise_multiplier.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

struct Asked {
    ViewQuery query;
    std::vector<int> targets;  ///< ascending; excludes observers named by the query
};

/// @throws ConfigError for more pairs than a result can hold.
void require_few_pairs(const Asked& asked) {
    const double pairs = static_cast<double>(asked.query.observers.size()) *
                         static_cast<double>(asked.targets.size());
    if (pairs > most_accounted_pairs)
        throw ConfigError(fmt::format(
            "--view {}: {:.3g} pairs of observer and target are too many (at most {:g}; name one "
            "observer, as node:0, or some --targets, or take worst-all-messages:1, which bounds "
            "what any one agent learns about each)",
            name_of(asked.query),
            pairs,
            most_accounted_pairs));
}

Asked read_asked(const AccountConfig& config, const Graph& graph) {
    Asked asked{parse_view("--view", config.view, graph),
                parse_agents_or_all("--targets", config.targets, graph)};
    const View* const one = asked.query.one_observer();
    const std::vector<int> members = one != nullptr ? one->members : std::vector<int>();
    if (config.targets != "all")
        for (const int member : members)
            if (std::ranges::binary_search(asked.targets, member))
                throw ConfigError(
                    fmt::format("--targets: agent {} is an observer of --view {} and knows its own "
                                "data (allowed: agents that do not observe)",
                                member,
                                name_of(asked.query)));
    asked.targets = without(asked.targets, members);
    if (asked.targets.empty())
        throw ConfigError(
            fmt::format("--view {}: all agents are observers, so nobody is left to learn about "
                        "(allowed: all agents but one at most)",
                        name_of(asked.query)));
    require_few_pairs(asked);
    return asked;
}

/// Observers and what they learn.
struct Findings {
    std::vector<Question> questions;
    Answers answers;
    std::optional<CoalitionSearch> search;
};

/// COLLECTIVE.
Findings search_worst(const Asked& asked,
                      const AccountSubject& subject,
                      const AskOptions& how,
                      Control& network) {
    Findings findings;
    const WorstCoalitions worst =
        find_worst_coalitions(asked.query, asked.targets, subject, how, network);
    for (const auto& [target, found] : worst.by_target) {
        findings.questions.push_back({{asked.query.record->receives, found.members}, {target}});
        findings.answers.push_back({found.squared});
    }
    findings.search = worst.search;
    return findings;
}

/// COLLECTIVE.
Findings ask_every_observer(const Asked& asked,
                            const AccountSubject& subject,
                            const AskOptions& how,
                            Control& network) {
    Findings findings;
    for (const View& view : asked.query.observers) {
        std::vector<int> others = without(asked.targets, view.members);
        if (!others.empty()) findings.questions.push_back({view, std::move(others)});
    }
    findings.answers = answer(network, subject, findings.questions, how);
    return findings;
}

std::map<int, Guarantee> against_eavesdropper(const AccountSubject& subject,
                                              const std::vector<int>& targets,
                                              int threads) {
    std::map<int, Guarantee> against;
    if (subject.process.phases.size() == 1) {
        const Eigen::VectorXd precision = observed_precision(subject.plan, {});
        for (const int u : targets)
            against[u] = guarantee_of_target(
                subject,
                {},
                u,
                precision(u) *
                    subject.exposures[static_cast<std::size_t>(u)].sensitivity_squared_over_rounds);
        return against;
    }
    ViewOptions options;
    options.threads = threads;
    const auto all = view_losses(subject.process, subject.use, View{}, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t)
        against[targets[t]] = guarantee_of_target(subject, {}, targets[t], all[t].certified());
    return against;
}

/// Length of the shortest path to the nearest observer, ignoring directions; -1 if there is none.
/// Cost: the edges of the agents that are no further.
int distance_to_nearest(const Graph& graph, int target, std::span<const int> observers) {
    std::unordered_map<int, int> distance{{target, 0}};
    std::vector<int> queue{target};
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const int u = queue[head];
        const int here = distance.at(u);
        if (std::ranges::find(observers, u) != observers.end()) return here;
        for (const int v : graph.neighbours(u))
            if (distance.emplace(v, here + 1).second) queue.push_back(v);
    }
    return -1;
}

/// Distances in the graph, computed when needed.
class Distances {
  public:
    Distances(const Graph& graph, const std::vector<Question>& questions)
        : graph_(graph), from_(static_cast<std::size_t>(graph.agents())) {
        std::set<int> observers;
        for (const Question& question : questions)
            observers.insert(question.view.members.begin(), question.view.members.end());
        const double kept = static_cast<double>(observers.size()) * graph.agents();
        constexpr double most_kept = 4e7;
        keeps_ = kept <= most_kept;
    }

    /// To the nearest observer; -1 if none is connected.
    [[nodiscard]] int between(const std::vector<int>& observers, int target) {
        if (!keeps_) return distance_to_nearest(graph_, target, observers);
        int nearest = -1;
        for (const int observer : observers) {
            auto& row = from_[static_cast<std::size_t>(observer)];
            if (row.empty()) row = graph_.distances_from(observer);
            const int distance = row[static_cast<std::size_t>(target)];
            if (distance >= 0 && (nearest < 0 || distance < nearest)) nearest = distance;
        }
        return nearest;
    }

  private:
    const Graph& graph_;
    bool keeps_ = true;
    std::vector<std::vector<int>> from_;
};

/// For every target, by every bound of view_bounds().
std::vector<std::vector<std::optional<Guarantee>>> published_figures(const ViewBoundInput& input,
                                                                     const Question& question) {
    std::vector<std::vector<std::optional<Guarantee>>> by_target(question.targets.size());
    for (const PublishedBound* bound : view_bounds()) {
        const auto squared = bound->of_view(input, question.view, question.targets);
        for (std::size_t t = 0; t < question.targets.size(); ++t)
            by_target[t].push_back(squared ? std::optional(guarantee_of_target(
                                                 input.subject,
                                                 question.view.members,
                                                 question.targets[t],
                                                 (*squared)(static_cast<Eigen::Index>(t))))
                                           : std::nullopt);
    }
    return by_target;
}

std::vector<PairFigure> pairs_of(const Findings& findings,
                                 const std::map<int, Guarantee>& eavesdropper,
                                 const AccountSubject& subject,
                                 const AccountConfig& config) {
    const ViewBoundInput bounds{subject.settled,
                                subject,
                                static_cast<double>(findings.questions.size()),
                                config.how.threads};
    Distances distances(*subject.process.graph, findings.questions);
    std::vector<PairFigure> pairs;
    for (std::size_t i = 0; i < findings.questions.size(); ++i) {
        const auto& [view, targets] = findings.questions[i];
        auto published = published_figures(bounds, findings.questions[i]);
        for (std::size_t t = 0; t < targets.size(); ++t) {
            PairFigure& pair = pairs.emplace_back();
            pair.observers = view.members;
            pair.target = targets[t];
            pair.distance = distances.between(view.members, pair.target);
            pair.squared = findings.answers[i][t];
            pair.guarantee =
                guarantee_of_target(subject, view.members, pair.target, pair.squared.certified());
            pair.eavesdropper = eavesdropper.at(pair.target);
            pair.published = std::move(published[t]);
            pair.argument =
                argument_of(view,
                            config.subject.inputs,
                            counts_all_messages(subject.process, subject.use.participation, view));
        }
    }
    return pairs;
}

}  // namespace

AccountResult run_account(const AccountConfig& config,
                          const AccountSubject& subject,
                          Control& network) {
    const auto start = Clock::now();
    Asked asked;
    network.agree([&] { asked = read_asked(config, *subject.process.graph); });
    AskOptions how = config.how;
    how.inputs = config.subject.inputs;
    const Findings findings = asked.query.is_search()
                                  ? search_worst(asked, subject, how, network)
                                  : ask_every_observer(asked, subject, how, network);
    AccountResult result;
    network.agree([&] {
        const auto eavesdropper = against_eavesdropper(subject, asked.targets, config.how.threads);
        result = account_of_pairs(name_of(asked.query),
                                  pairs_of(findings, eavesdropper, subject, config));
        result.eavesdropper =
            std::ranges::max_element(eavesdropper, [](const auto& a, const auto& b) {
                return a.second < b.second;
            })->second;
        result.dropouts = account_for_dropouts(config, subject, asked.query, asked.targets);
        result.persons = account_for_persons(config, subject, asked.query, asked.targets);
    });
    result.search = findings.search;
    result.seconds = seconds_since(start);
    return result;
}

AccountResult account_matrices(const std::string& a_file,
                               const std::string& b_file,
                               int agents,
                               const std::string& targets_text,
                               double sensitivity,
                               const Participation& participation,
                               double delta) {
    const auto start = Clock::now();
    require_positive("--sensitivity", sensitivity);
    const Eigen::MatrixXd a = read_npy(a_file), b = read_npy(b_file);
    const auto targets =
        parse_agents_or_all("--targets", targets_text, Graph::from_edges(agents, {}));
    const auto squared =
        matrix_sensitivity(a, b, agents, targets, participation, ViewOptions{}.tight_gap);
    std::vector<PairFigure> pairs;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        PairFigure& pair = pairs.emplace_back();
        pair.target = targets[t];
        pair.squared = squared[t];
        const double mu = sensitivity * std::sqrt(pair.squared.certified());
        pair.guarantee = guarantee_of(PrivacyLoss::gaussian(mu), delta);
        pair.eavesdropper.epsilon = not_a_number;
        pair.argument = argument_of({View::Kind::neighbours, {}}, Inputs::fixed, false);
    }
    AccountResult result = account_of_pairs("matrices", std::move(pairs));
    result.eavesdropper.epsilon = not_a_number;
    result.seconds = seconds_since(start);
    return result;
}

Conversion convert_mu(double mu, double delta) {
    return {mu, gdp_epsilon(mu, delta), delta, rdp_epsilon(mu, delta)};
}

Conversion convert_epsilon(double epsilon, double delta) {
    const double mu = gdp_mu(epsilon, delta);
    return {mu, epsilon, delta, rdp_epsilon(mu, delta)};
}

std::string conversion_json(const Conversion& conversion) {
    nlohmann::ordered_json json;
    json["mu"] = conversion.mu;
    json["epsilon"] = conversion.epsilon;
    json["delta"] = conversion.delta;
    json["renyi_alpha2"] = conversion.mu * conversion.mu;
    json["rdp_epsilon"] = conversion.rdp_epsilon;
    return to_text(json);
}

std::string conversion_text(const Conversion& conversion) {
    return fmt::format(
        "mu {:.9g} is epsilon {:.9g} at delta {:g} (exact; by Renyi divergence {:.9g}); "
        "Renyi divergence of order 2: {:.9g}\n",
        conversion.mu,
        conversion.epsilon,
        conversion.delta,
        conversion.rdp_epsilon,
        conversion.mu * conversion.mu);
}

namespace {

/// S, q and T of one phase.
std::array<std::string_view, 3> words_of_phase(std::string_view option, std::string_view phase) {
    const std::size_t first = phase.find(':');
    const std::size_t second = first == std::string_view::npos ? first : phase.find(':', first + 1);
    if (second == std::string_view::npos || phase.find(':', second + 1) != std::string_view::npos)
        throw ConfigError(
            fmt::format("{}: '{}' is not allowed (must be S:q:T, noise multiplier, sampling "
                        "probability and rounds)",
                        option,
                        phase));
    return {phase.substr(0, first),
            phase.substr(first + 1, second - first - 1),
            phase.substr(second + 1)};
}

template <class Number>
Number number_from(std::string_view option, std::string_view name, std::string_view word) {
    Number value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size())
        throw ConfigError(fmt::format("{}: {} '{}' is not a number", option, name, word));
    return value;
}

void require_noise_multiplier(std::string_view option, double noise) {
    if (!(noise >= 1e-3 && noise <= 1e9))
        throw ConfigError(fmt::format(
            "{}: noise multiplier {} is not allowed (must be from 0.001 to 1e9)", option, noise));
}

void require_count(std::string_view option, long count) {
    if (count < 1 || count > most_sampled_rounds)
        throw ConfigError(fmt::format("{}: {} rounds are not allowed (must be from 1 to {})",
                                      option,
                                      count,
                                      most_sampled_rounds));
}

template <class Figure>
nlohmann::ordered_json common(const SampledConversion& conversion, Figure SampledRounds::*figure) {
    const bool same = std::ranges::all_of(conversion.rounds, [&](const SampledRounds& one) {
        return one.*figure == conversion.rounds.front().*figure;
    });
    return same ? nlohmann::ordered_json(conversion.rounds.front().*figure)
                : nlohmann::ordered_json();
}

}  // namespace

void require_sampling_probability(std::string_view option, double probability) {
    if (!(probability > 0 && probability <= 1))
        throw ConfigError(
            fmt::format("{}: probability {} is not allowed (must be above 0 and at most 1)",
                        option,
                        probability));
}

std::vector<SampledRounds> parse_sampled_rounds(std::string_view option, std::string_view text) {
    std::vector<SampledRounds> rounds;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto [noise, probability, count] =
            words_of_phase(option, text.substr(begin, end - begin));
        const SampledRounds& one =
            rounds.emplace_back(number_from<double>(option, "noise multiplier", noise),
                                number_from<double>(option, "sampling probability", probability),
                                number_from<long>(option, "rounds", count));
        require_noise_multiplier(option, one.noise_multiplier);
        require_sampling_probability(option, one.sampling_probability);
        require_count(option, one.count);
        begin = end + 1;
    }
    return rounds;
}

SampledConversion convert_sampled_rounds(std::span<const SampledRounds> rounds, double delta) {
    const Certified epsilon = PrivacyLoss::sampled(rounds).epsilon(delta);
    return {{rounds.begin(), rounds.end()}, epsilon.upper, epsilon.lower, delta, std::nullopt};
}

SampledConversion convert_sampled_budget(double epsilon,
                                         double delta,
                                         double probability,
                                         long count) {
    const SampledPhase phase{probability, count};
    const SampledRounds rounds{
        noise_multiplier_for(epsilon, delta, {&phase, 1}), probability, count};
    return convert_sampled_rounds({&rounds, 1}, delta);
}

SampledConversion convert_allocation(double noise_multiplier,
                                     long rounds_an_epoch,
                                     long epochs,
                                     double delta) {
    const SampledRounds rounds = allocated_rounds(noise_multiplier, rounds_an_epoch, epochs);
    SampledConversion conversion = convert_sampled_rounds({&rounds, 1}, delta);
    const SampledRounds poisson{
        noise_multiplier, rounds.sampling_probability, epochs * rounds_an_epoch};
    conversion.poisson_epsilon = PrivacyLoss::sampled({&poisson, 1}).epsilon(delta).upper;
    return conversion;
}

SampledConversion convert_allocated_budget(double epsilon,
                                           double delta,
                                           long rounds_an_epoch,
                                           long epochs) {
    const SampledPhase phase{1 / static_cast<double>(rounds_an_epoch), epochs, rounds_an_epoch};
    return convert_allocation(
        noise_multiplier_for(epsilon, delta, {&phase, 1}), rounds_an_epoch, epochs, delta);
}

std::string sampled_conversion_json(const SampledConversion& conversion) {
    nlohmann::ordered_json json;
    json["epsilon"] = conversion.epsilon;
    json["epsilon_lower"] = conversion.epsilon_lower;
    json["delta"] = conversion.delta;
    json["noise_multiplier"] = common(conversion, &SampledRounds::noise_multiplier);
    json["sampling_probability"] = common(conversion, &SampledRounds::sampling_probability);
    long count = 0;
    for (const SampledRounds& one : conversion.rounds) {
        count += one.count * one.rounds_an_epoch;
        json["sampled_rounds"].push_back(rounds_json(one));
    }
    if (conversion.poisson_epsilon) {
        json["rounds_an_epoch"] = conversion.rounds.front().rounds_an_epoch;
        json["epochs"] = conversion.rounds.front().count;
        json["poisson_epsilon"] = *conversion.poisson_epsilon;
    }
    json["rounds"] = count;
    return to_text(json);
}

std::string sampled_conversion_text(const SampledConversion& conversion) {
    std::string text;
    for (const SampledRounds& one : conversion.rounds)
        text += one.is_allocated()
                    ? fmt::format(
                          "{} of {} rounds, each record in one round of every epoch, noise "
                          "multiplier {:.9g}\n",
                          one.count == 1 ? "1 epoch" : fmt::format("{} epochs", one.count),
                          one.rounds_an_epoch,
                          one.noise_multiplier)
                    : fmt::format(
                          "{} rounds, each record in one with probability {:.9g}, noise "
                          "multiplier {:.9g}\n",
                          one.count,
                          one.sampling_probability,
                          one.noise_multiplier);
    const double gap =
        conversion.epsilon > 0 ? 1 - conversion.epsilon_lower / conversion.epsilon : 0;
    const std::string poisson =
        conversion.poisson_epsilon
            ? fmt::format(
                  "Poisson sampling with the same noise and expected batches: epsilon {:.9g}\n",
                  *conversion.poisson_epsilon)
            : std::string();
    return text +
           fmt::format(
               "epsilon {:.9g} at delta {:g}, for a record added or removed (certified; none "
               "below {:.9g} holds: relative gap {:.2g}{})\n",
               conversion.epsilon,
               conversion.delta,
               conversion.epsilon_lower,
               gap,
               gap > 0.01 ? "; no lattice was fine enough, so this upper bound may be loose" : "") +
           poisson;
}

ChoiceConversion convert_choice(const PrivacyLoss& training,
                                const TrainingCount& count,
                                double delta) {
    ChoiceConversion conversion{count, choice_cost({&training, 1}, count, delta), std::nullopt};
    if (const auto mu = training.mu(); mu && *mu > 0 && !training.infinite())
        conversion.epsilon_for_the_same = epsilon_of_one(conversion.cost.one, count, delta);
    return conversion;
}

std::string choice_conversion_json(const ChoiceConversion& conversion) {
    const ChoiceCost& cost = conversion.cost;
    nlohmann::ordered_json json;
    json["private_choice"] = conversion.count.mean;
    json["choice_shape"] = conversion.count.shape;
    json["epsilon"] = number_or_null(cost.epsilon.upper);
    json["epsilon_lower"] = number_or_null(cost.epsilon.lower);
    json["delta"] = cost.delta;
    json["epsilon_one"] = number_or_null(cost.one);
    json["epsilon_added_up"] = number_or_null(cost.added_up);
    json["epsilon_by_profile"] = number_or_null(cost.by_profile);
    json["epsilon_by_renyi"] = number_or_null(cost.by_renyi);
    json["epsilon_for_the_same"] = number_or_null(conversion.epsilon_for_the_same);
    return to_text(json);
}

std::string choice_conversion_text(const ChoiceConversion& conversion) {
    const ChoiceCost& cost = conversion.cost;
    const double mean = conversion.count.mean;
    std::string text = fmt::format(
        "the best of a secret, random number of trainings, {:g} on average (shape {:g}), each of "
        "epsilon {:.6g} at delta {:g}:\n"
        "  epsilon {:.6g} for whoever sees the chosen training alone (certified; none below {:.6g} "
        "holds for every score)\n"
        "  epsilon {:.6g} for whoever sees {:g} trainings\n",
        mean,
        conversion.count.shape,
        cost.one,
        cost.delta,
        cost.epsilon.upper,
        cost.epsilon.lower,
        cost.added_up,
        mean);
    if (conversion.epsilon_for_the_same)
        text +=
            fmt::format("  with trainings of epsilon {:.6g} the choice costs no more than {:.6g}\n",
                        *conversion.epsilon_for_the_same,
                        cost.one);
    return text;
}

}  // namespace sotto
