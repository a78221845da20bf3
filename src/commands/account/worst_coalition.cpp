#include "commands/account/worst_coalition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/view_answers.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The coalition of q agents that learns most about one of the targets.
class WorstCoalition {
  public:
    WorstCoalition(const AccountConfig& config,
                   const AccountSubject& subject,
                   Network& network,
                   const ViewQuery& query,
                   const std::vector<int>& targets)
        : config_(config),
          subject_(subject),
          network_(network),
          kind_(query.view_kind()),
          targets_(targets) {
        search_.size = query.size;
        search_.total = count_coalitions(subject.plan.agents, query.size);
        search_.exhaustive = search_.total <= most_coalitions_searched;
    }

    WorstCoalitions run() {
        network_.agree([&] { find_upper_bound(); });
        if (search_.exhaustive) {
            std::vector<std::vector<int>> all;
            for_each_coalition(
                subject_.plan.agents, search_.size, [&](const std::vector<int>& coalition) {
                    all.push_back(coalition);
                });
            (void)evaluate(all);
        } else {
            greedy();
        }
        double largest = 0;
        for (const auto& [target, found] : worst_)
            largest = std::max(largest, squared_loss(target, found.squared));
        search_.bound_attained = largest >= upper_squared_ * (1 - 1e-9);
        return {worst_, search_};
    }

  private:
    [[nodiscard]] double squared_loss(int target, const SquaredSensitivity& squared) const {
        const double delta = subject_.exposures[static_cast<std::size_t>(target)].sensitivity;
        return delta * delta * squared.certified();
    }

    void find_upper_bound() {
        const NoisePlan& plan = subject_.plan;
        upper_squared_ = infinity;
        if (subject_.process.phases.size() == 1) {
            const bool shared = std::ranges::any_of(
                plan.groups, [](const SeedGroup& group) { return group.members.size() > 1; });
            Eigen::VectorXd precision;
            if (!shared && plan.aggregation == Aggregation::gossip) {
                precision = observed_precision(plan, {});
            } else if (search_.exhaustive) {
                precision = coalition_precision(plan, search_.size);
            } else {
                // What is left when every shared seed is known.
                Eigen::VectorXd variance = Eigen::VectorXd::Zero(plan.agents);
                for (const NoiseRow& row : plan.rows)
                    for (std::size_t j = 0; j < row.streams.size(); ++j) {
                        const NoiseStream& stream =
                            plan.streams[static_cast<std::size_t>(row.streams[j])];
                        if (plan.groups[static_cast<std::size_t>(stream.group)].members.size() == 1)
                            variance(row.sender) += std::pow(plan.scale * row.coefficients[j], 2);
                    }
                precision = variance.cwiseInverse();
            }
            upper_squared_ = 0;
            for (const int u : targets_) {
                const Exposure& exposure = subject_.exposures[static_cast<std::size_t>(u)];
                upper_squared_ =
                    std::max(upper_squared_,
                             exposure.sensitivity * exposure.sensitivity *
                                 exposure.sensitivity_squared_over_rounds * precision(u));
            }
        }
        search_.upper = guarantee_of(plan, std::sqrt(upper_squared_), subject_.delta);
    }

    /// Largest squared loss over the targets outside, of every coalition.
    std::vector<double> evaluate(const std::vector<std::vector<int>>& coalitions) {
        std::vector<Question> questions;
        for (const auto& members : coalitions)
            questions.push_back({{kind_, members}, without(targets_, members)});
        const Answers answers = answer(network_, subject_, questions, config_.how);
        search_.evaluated += static_cast<long>(coalitions.size());
        std::vector<double> scores(coalitions.size(), 0);
        for (std::size_t i = 0; i < coalitions.size(); ++i)
            for (std::size_t t = 0; t < questions[i].targets.size(); ++t) {
                const int target = questions[i].targets[t];
                const double score = squared_loss(target, answers[i][t]);
                scores[i] = std::max(scores[i], score);
                if (static_cast<int>(coalitions[i].size()) != search_.size) continue;
                const auto known = worst_.find(target);
                if (known == worst_.end() || score > squared_loss(target, known->second.squared))
                    worst_[target] = {coalitions[i], answers[i][t]};
            }
        return scores;
    }

    /// The coalition that learns most among `members` and any one agent more, and its squared loss.
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

    void greedy() {
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

    const AccountConfig& config_;
    const AccountSubject& subject_;
    Network& network_;
    View::Kind kind_;
    const std::vector<int>& targets_;
    CoalitionSearch search_;
    double upper_squared_ = infinity;
    std::map<int, WorstCoalitions::Found> worst_;
};

}  // namespace

WorstCoalitions find_worst_coalitions(const AccountConfig& config,
                                      const AccountSubject& subject,
                                      Network& network,
                                      const ViewQuery& query,
                                      const std::vector<int>& targets) {
    return WorstCoalition(config, subject, network, query, targets).run();
}

}  // namespace sotto
