#include "account/worst_coalition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "account/ledger_views.hpp"
#include "core/numbers.hpp"
#include "privacy/dropouts.hpp"
#include "privacy/large_plans.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

/// Precision of an agent's noise if every shared seed is known.
Eigen::VectorXd private_precision(const NoisePlan& plan) {
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            if (plan.groups[static_cast<std::size_t>(stream.group)].members.size() == 1)
                variance(row.sender) += std::pow(plan.scale * row.coefficients[j], 2);
        }
    return variance.cwiseInverse();
}

/// Precision of an agent's noise against any coalition of this size that sees all messages.
/// @param every whether every coalition may be tried.
Eigen::VectorXd precision_against(const NoisePlan& plan, int size, bool every) {
    const bool shared = std::ranges::any_of(
        plan.groups, [](const SeedGroup& group) { return group.members.size() > 1; });
    if (!shared && plan.aggregation == Aggregation::gossip) return observed_precision(plan, {});
    return every || large_pairwise_noise(plan) ? coalition_precision(plan, size)
                                               : private_precision(plan);
}

/// For every target an upper bound of SquaredSensitivity for all coalitions of this size; infinite
/// if unknown.
std::map<int, double> upper_bounds(const AccountSubject& subject,
                                   const std::vector<int>& targets,
                                   int size,
                                   bool every) {
    std::map<int, double> bounds;
    const bool known = subject.process.phases.size() == 1;
    const Eigen::VectorXd precision =
        known ? precision_against(subject.plan, size, every) : Eigen::VectorXd();
    for (const int u : targets)
        bounds[u] =
            known ? subject.exposures[static_cast<std::size_t>(u)].sensitivity_squared_over_rounds *
                        precision(u)
                  : infinity;
    return bounds;
}

/// What coalitions of one size learn at most, of surveys too.
class UpperGuarantees {
  public:
    UpperGuarantees(const AccountSubject& subject, int size) : subject_(subject) {
        if (subject.surveys.empty()) return;
        surveys_.emplace(subject.surveys.front()->members.all);
        for (const PrivacyPhase* const survey : subject.surveys)
            surveys_->add(*survey, survey->rounds, precision_against(survey->plan, size, false));
    }

    [[nodiscard]] Guarantee about(int target, double squared) const {
        const Guarantee training =
            guarantee_of(subject_.plan,
                         subject_.exposures[static_cast<std::size_t>(target)],
                         squared,
                         subject_.delta);
        return surveys_
                   ? guarantee_of(compose(training.loss, surveys_->of(target, 0)), training.delta)
                   : training;
    }

  private:
    const AccountSubject& subject_;
    std::optional<PrivacyLosses> surveys_;
};

class WorstCoalition {
  public:
    WorstCoalition(const ViewQuery& query,
                   const std::vector<int>& targets,
                   const AccountSubject& subject,
                   const AskOptions& how,
                   Control& network)
        : subject_(subject),
          how_(how),
          network_(network),
          kind_(query.record->receives),
          targets_(targets) {
        search_.size = query.arguments.size;
        search_.total = count_coalitions(subject.plan.agents, search_.size);
        search_.exhaustive = search_.total <= most_coalitions_searched;
    }

    WorstCoalitions run() {
        if (const auto noise = kind_ == View::Kind::all_messages ? noise_of_pairs() : std::nullopt)
            network_.agree([&] { bound_by_what_is_near(*noise); });
        else
            search();
        double most = 0;
        for (const auto& [target, found] : worst_)
            most = std::max(most, squared_loss(target, found.squared.certified()));
        search_.bound_attained = most >= upper_squared_ * (1 - 1e-9);
        return {worst_, search_};
    }

  private:
    /// Of a large plan; nothing if it changed.
    [[nodiscard]] std::optional<PairwiseNoise> noise_of_pairs() const {
        if (subject_.process.phases.size() != 1) return std::nullopt;
        return large_pairwise_noise(subject_.plan);
    }

    /// For every target the bound that holds for all coalitions, and one near the target that
    /// learns about so much.
    void bound_by_what_is_near(const PairwiseNoise& noise) {
        const std::vector<LocalPrecision> found =
            local_precisions(noise, targets_, search_.size, local_options(noise.agents()));
        std::map<int, double> bounds;
        double gap = 0;
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            const double exposure = subject_.exposures[static_cast<std::size_t>(targets_[t])]
                                        .sensitivity_squared_over_rounds;
            const double scale = subject_.plan.scale;
            bounds[targets_[t]] = exposure * found[t].upper / (scale * scale);
            worst_[targets_[t]] = {found[t].coalition,
                                   SquaredSensitivity::all_messages(bounds[targets_[t]])};
            gap = std::max(gap, 1 - std::sqrt(found[t].lower / found[t].upper));
        }
        search_.evaluated = std::ssize(targets_);
        search_.near_gap = gap;
        take_bounds(bounds);
    }

    /// @throws ConfigError where its first step alone takes more pairs than a result can hold.
    void search() {
        network_.agree([&] {
            const double pairs =
                static_cast<double>(subject_.plan.agents) * static_cast<double>(targets_.size());
            if (pairs > most_accounted_pairs)
                throw ConfigError(fmt::format(
                    "--view: the worst of {:.3g} coalitions of {} cannot be searched for, because "
                    "{:.3g} pairs of observer and target are too many (at most {:g}; name one "
                    "observer, as node:0, or some --targets, or take eavesdropper)",
                    search_.total,
                    search_.size,
                    pairs,
                    most_accounted_pairs));
            take_bounds(upper_bounds(subject_, targets_, search_.size, search_.exhaustive));
        });
        if (search_.exhaustive)
            try_all();
        else
            search_greedily();
    }

    void take_bounds(const std::map<int, double>& bounds) {
        const UpperGuarantees guarantees(subject_, search_.size);
        std::vector<Guarantee> all;
        upper_squared_ = 0;
        for (const auto& [target, squared] : bounds) {
            upper_squared_ = std::max(upper_squared_, squared_loss(target, squared));
            all.push_back(guarantees.about(target, squared));
        }
        search_.upper = largest(all);
    }

    /// By which coalitions are ranked. Surveys have the training's plan, scaled, or noise that
    /// nobody shares (plan_of_surveys): who learns most of the rounds learns most of all.
    [[nodiscard]] double squared_loss(int target, double squared) const {
        const double delta = subject_.exposures[static_cast<std::size_t>(target)].sensitivity;
        return delta * delta * squared;
    }

    /// Largest squared loss over the targets outside each coalition.
    std::vector<double> evaluate(const std::vector<std::vector<int>>& coalitions) {
        std::vector<Question> questions;
        for (const auto& members : coalitions)
            questions.push_back({{kind_, members}, without(targets_, members)});
        const Answers answers = answer(network_, subject_, questions, how_);
        search_.evaluated += static_cast<long>(coalitions.size());
        std::vector<double> scores(coalitions.size(), 0);
        for (std::size_t i = 0; i < coalitions.size(); ++i)
            for (std::size_t t = 0; t < questions[i].targets.size(); ++t) {
                const int target = questions[i].targets[t];
                const double score = squared_loss(target, answers[i][t].certified());
                scores[i] = std::max(scores[i], score);
                if (static_cast<int>(coalitions[i].size()) != search_.size) continue;
                const auto known = worst_.find(target);
                if (known == worst_.end() ||
                    score > squared_loss(target, known->second.squared.certified()))
                    worst_[target] = {coalitions[i], answers[i][t]};
            }
        return scores;
    }

    void try_all() {
        std::vector<std::vector<int>> all;
        for_each_coalition(subject_.plan.agents,
                           search_.size,
                           [&](const std::vector<int>& coalition) { all.push_back(coalition); });
        (void)evaluate(all);
    }

    /// The best coalition of `members` and one more agent, and its squared loss.
    std::pair<std::vector<int>, double> best_with_one_more(const std::vector<int>& members) {
        std::vector<std::vector<int>> candidates;
        for (int v = 0; v < subject_.plan.agents; ++v) {
            if (std::ranges::binary_search(members, v)) continue;
            auto& candidate = candidates.emplace_back(members);
            candidate.insert(std::ranges::upper_bound(candidate, v), v);
        }
        const auto scores = evaluate(candidates);
        const auto best = std::ranges::max_element(scores);
        return {candidates[static_cast<std::size_t>(best - scores.begin())], *best};
    }

    void search_greedily() {
        std::vector<int> members;
        double score = 0;
        while (static_cast<int>(members.size()) < search_.size)
            std::tie(members, score) = best_with_one_more(members);
        bool better = true;
        while (better && score < upper_squared_ * (1 - 1e-9)) {
            better = false;
            for (std::size_t place = 0; place < members.size() && !better; ++place) {
                std::vector<int> others = members;
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
                auto [candidate, found] = best_with_one_more(others);
                if (found > score * (1 + 1e-9)) {
                    members = std::move(candidate);
                    score = found;
                    better = true;
                }
            }
        }
    }

    const AccountSubject& subject_;
    const AskOptions& how_;
    Control& network_;
    View::Kind kind_;
    const std::vector<int>& targets_;
    CoalitionSearch search_;
    double upper_squared_ = infinity;
    std::map<int, WorstCoalitions::Found> worst_;
};

}  // namespace

WorstCoalitions find_worst_coalitions(const ViewQuery& query,
                                      const std::vector<int>& targets,
                                      const AccountSubject& subject,
                                      const AskOptions& how,
                                      Control& network) {
    return WorstCoalition(query, targets, subject, how, network).run();
}

namespace {

using Eigen::VectorXd;

std::vector<std::vector<int>> asked_coalitions(const ViewQuery& query, int agents) {
    std::vector<std::vector<int>> coalitions;
    if (query.is_search()) {
        check_coalition_size(agents, query.arguments.size);
        check_coalition_count(agents, query.arguments.size);
        for_each_coalition(agents, query.arguments.size, [&](const std::vector<int>& members) {
            coalitions.push_back(members);
        });
    }
    for (const View& view : query.observers) coalitions.push_back(view.members);
    return coalitions;
}

/// For every agent, from the coalition outside which it learns most.
DropoutPrecision precision_without(const NoisePlan& plan,
                                   const std::vector<std::vector<int>>& coalitions,
                                   const std::vector<int>& missing) {
    const VectorXd nothing = VectorXd::Zero(plan.agents);
    DropoutPrecision worst{nothing, nothing, nothing};
    for (const std::vector<int>& members : coalitions) {
        DropoutPrecision precision = dropout_precision(plan, {members}, missing);
        for (const auto& [largest, found] : {std::pair(&worst.silent, &precision.silent),
                                             std::pair(&worst.revealed, &precision.revealed),
                                             std::pair(&worst.late, &precision.late)}) {
            for (const int member : members) (*found)(member) = 0;
            *largest = largest->cwiseMax(*found);
        }
    }
    return worst;
}

DropoutPrecision worst_precision(const NoisePlan& plan, const ViewQuery& query, int dropouts) {
    if (const View* const one = query.one_observer())
        return worst_dropout_precision(plan, Observer{one->members}, dropouts);
    std::size_t size = static_cast<std::size_t>(query.arguments.size);
    for (const View& view : query.observers) size = std::max(size, view.members.size());
    return worst_dropout_precision(plan, static_cast<int>(size), dropouts);
}

void keep_larger(std::optional<Guarantee>& worst, const std::optional<Guarantee>& found) {
    if (found && (!worst || *worst < *found)) worst = found;
}

}  // namespace

std::optional<DropoutAccount> account_for_dropouts(const AccountConfig& config,
                                                   const AccountSubject& subject,
                                                   const ViewQuery& query,
                                                   const std::vector<int>& targets) {
    if (!config.dropouts && config.missing.empty()) return std::nullopt;
    if (config.dropouts && !config.missing.empty())
        throw ConfigError("--missing: --dropouts is given too; give only one of them");
    require_no_surveys(subject, "--dropouts");
    if (subject.process.phases.size() != 1)
        throw ConfigError(
            "--departures: not possible with --dropouts and --missing (allowed: one phase)");
    DropoutAccount account;
    if (!config.missing.empty())
        account.missing = parse_agent_list("--missing", config.missing, *subject.process.graph);
    account.most = config.dropouts.value_or(static_cast<int>(account.missing.size()));
    const DropoutPrecision precision =
        config.dropouts
            ? worst_precision(subject.plan, query, *config.dropouts)
            : precision_without(
                  subject.plan, asked_coalitions(query, subject.plan.agents), account.missing);
    const auto guarantee = [&](const VectorXd& known, int u) -> std::optional<Guarantee> {
        if (!(known(u) > 0)) return std::nullopt;
        const Exposure& exposure = subject.exposures[static_cast<std::size_t>(u)];
        return guarantee_of(subject.plan,
                            exposure,
                            exposure.sensitivity_squared_over_rounds * known(u),
                            subject.delta);
    };
    for (const int u : targets) {
        const DropoutFigure& figure =
            account.figures.emplace_back(DropoutFigure{u,
                                                       guarantee(precision.silent, u),
                                                       guarantee(precision.revealed, u),
                                                       guarantee(precision.late, u)});
        keep_larger(account.worst.silent, figure.silent);
        keep_larger(account.worst.revealed, figure.revealed);
        keep_larger(account.worst.late, figure.late);
    }
    return account;
}

}  // namespace sotto
