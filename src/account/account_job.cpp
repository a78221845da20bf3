#include "account/account_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "account/dropout_account.hpp"
#include "account/published_bound.hpp"
#include "account/view_answers.hpp"
#include "account/worst_coalition.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/agent_list.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

namespace {

/// Whom the account is asked about.
struct Asked {
    ViewQuery query;
    std::vector<int> targets;  ///< ascending; not observers of a query that names them
};

Asked read_asked(const AccountConfig& config, const Graph& graph) {
    Asked asked{parse_view("--view", config.view, graph),
                parse_agents_or_all("--targets", config.targets, graph)};
    const View* const one = asked.query.one_observer();
    const std::vector<int> members = one != nullptr ? one->members : std::vector<int>();
    if (config.targets != "all")
        for (const int member : members)
            if (std::ranges::binary_search(asked.targets, member))
                throw ConfigError(fmt::format(
                    "--targets: agent {} is an observer of --view {} and knows its own data",
                    member,
                    name_of(asked.query)));
    asked.targets = without(asked.targets, members);
    if (asked.targets.empty())
        throw ConfigError(
            fmt::format("--view {}: all agents are observers, nobody is left to learn about",
                        name_of(asked.query)));
    return asked;
}

/// Observers with what they learn.
struct Findings {
    std::vector<Question> questions;
    Answers answers;
    std::optional<CoalitionSearch> search;
};

/// COLLECTIVE.
Findings search_worst(const Asked& asked,
                      const AccountSubject& subject,
                      const ViewOptions& how,
                      Network& network) {
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
                            const ViewOptions& how,
                            Network& network) {
    Findings findings;
    for (const View& view : asked.query.observers) {
        std::vector<int> others = without(asked.targets, view.members);
        if (!others.empty()) findings.questions.push_back({view, std::move(others)});
    }
    findings.answers = answer(network, subject, findings.questions, how);
    return findings;
}

Guarantee guarantee_of_target(const AccountSubject& subject, int target, double squared) {
    return guarantee_of(
        subject.plan, subject.exposures[static_cast<std::size_t>(target)], squared, subject.delta);
}

/// What the eavesdropper learns about every target, for comparison.
std::map<int, Guarantee> against_eavesdropper(const AccountSubject& subject,
                                              const std::vector<int>& targets,
                                              int threads) {
    std::map<int, Guarantee> against;
    if (subject.process.phases.size() == 1) {
        const Eigen::VectorXd precision = observed_precision(subject.plan, {});
        for (const int u : targets)
            against[u] = guarantee_of_target(
                subject,
                u,
                precision(u) *
                    subject.exposures[static_cast<std::size_t>(u)].sensitivity_squared_over_rounds);
        return against;
    }
    ViewOptions options;
    options.threads = threads;
    const auto all = view_losses(subject.process, subject.use, View{}, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t)
        against[targets[t]] = guarantee_of_target(subject, targets[t], all[t].certified());
    return against;
}

/// Numbers of edges between agents, worked out for the agents that are asked.
class Distances {
  public:
    explicit Distances(const Graph& graph)
        : graph_(graph), from_(static_cast<std::size_t>(graph.agents())) {}

    /// From the nearest observer; -1 without one that is connected.
    [[nodiscard]] int between(const std::vector<int>& observers, int target) {
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
    std::vector<std::vector<int>> from_;
};

/// Of every target by every bound of view_bounds().
std::vector<std::vector<std::optional<Guarantee>>> published_figures(const ViewBoundInput& input,
                                                                     const Question& question) {
    std::vector<std::vector<std::optional<Guarantee>>> by_target(question.targets.size());
    for (const PublishedBound* bound : view_bounds()) {
        const auto squared = bound->of_view(input, question.view, question.targets);
        for (std::size_t t = 0; t < question.targets.size(); ++t)
            by_target[t].push_back(squared ? std::optional(guarantee_of_target(
                                                 input.subject,
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
    const ViewBoundInput bounds{config.subject.plan,
                                subject,
                                static_cast<double>(findings.questions.size()),
                                config.how.threads};
    Distances distances(*subject.process.graph);
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
            pair.guarantee = guarantee_of_target(subject, pair.target, pair.squared.certified());
            pair.eavesdropper = eavesdropper.at(pair.target);
            pair.published = std::move(published[t]);
            pair.argument =
                argument_of(view,
                            config.subject.fixed_inputs,
                            counts_all_messages(subject.process, subject.use.participation, view));
        }
    }
    return pairs;
}

}  // namespace

AccountResult run_account(const AccountConfig& config,
                          const AccountSubject& subject,
                          Network& network) {
    const auto start = Clock::now();
    Asked asked;
    network.agree([&] { asked = read_asked(config, *subject.process.graph); });
    const Findings findings = asked.query.is_search()
                                  ? search_worst(asked, subject, config.how, network)
                                  : ask_every_observer(asked, subject, config.how, network);
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
    });
    result.search = findings.search;
    result.seconds = seconds_since(start);
    return result;
}

}  // namespace sotto
