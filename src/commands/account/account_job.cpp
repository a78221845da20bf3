#include "commands/account/account_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "commands/account/worst_coalition.hpp"
#include "run/view_answers.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Variance of every agent's private noise if each has one and the same, and no other.
std::optional<double> common_private_variance(const NoisePlan& plan) {
    if (plan.noiseless() || plan.aggregation != Aggregation::gossip ||
        plan.distribution() != StreamDistribution::gaussian)
        return std::nullopt;
    for (const SeedGroup& group : plan.groups)
        if (group.members.size() > 1) return std::nullopt;
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        for (const double coefficient : row.coefficients)
            variance(row.sender) += plan.scale * plan.scale * coefficient * coefficient;
    if (variance.maxCoeff() - variance.minCoeff() > 1e-12 * variance.maxCoeff())
        return std::nullopt;
    return variance.mean();
}

/// The published bound for gossip with independent noise, for every target of one observer.
class MuffliatoColumn {
  public:
    MuffliatoColumn(const AccountConfig& config,
                    const AccountSubject& subject,
                    const ViewQuery& query)
        : subject_(subject), rounds_(config.plan.rounds) {
        const Graph& graph = *subject.process.graph;
        const double cost = static_cast<double>(rounds_) * graph.agents() *
                            static_cast<double>(graph.edges().size() + 1);
        if (query.view_kind() == View::Kind::neighbours &&
            (query.members.size() == 1 || query.kind == ViewQuery::Kind::all_nodes) &&
            config.plan.participation.cycle == 1 && config.plan.gossip_steps == 1 &&
            subject.plan.temporal.kind == TemporalFactor::Kind::identity &&
            subject.process.phases.size() == 1 && subject.process.phases.front().mixing.fixed() &&
            subject.process.step_sizes.empty() && cost < 1e9)
            variance_ = common_private_variance(subject.plan);
    }
    /// Squared sensitivities of all agents in the view of this one; empty where it does not apply.
    [[nodiscard]] Eigen::VectorXd of(const std::vector<int>& members) const {
        if (!variance_ || members.size() != 1) return {};
        return muffliato_bound(*subject_.process.graph,
                               subject_.process.phases.front().mixing.at(0),
                               members.front(),
                               rounds_) /
               *variance_;
    }

  private:
    const AccountSubject& subject_;
    long rounds_;
    std::optional<double> variance_;
};

int distance_of(const std::vector<std::vector<int>>& distances,
                const std::vector<int>& observers,
                int target) {
    int nearest = -1;
    for (const int observer : observers) {
        const int distance =
            distances[static_cast<std::size_t>(observer)][static_cast<std::size_t>(target)];
        if (distance >= 0 && (nearest < 0 || distance < nearest)) nearest = distance;
    }
    return nearest;
}

std::vector<DistanceRow> rows_by_distance(const std::vector<PairFigure>& pairs) {
    std::map<int, DistanceRow> rows;
    for (const PairFigure& pair : pairs) {
        if (pair.distance < 0) continue;
        const double epsilon = pair.guarantee.epsilon;
        DistanceRow& row = rows[pair.distance];
        if (row.pairs == 0) {
            row = {pair.distance, 0, 0, epsilon, 0, 0, 0, {}};
            if (pair.muffliato_epsilon) row.muffliato = 0;
        }
        ++row.pairs;
        if (std::isinf(epsilon)) ++row.infinite;
        row.min = std::min(row.min, epsilon);
        row.max = std::max(row.max, epsilon);
        row.mean += epsilon;
        row.ldp += pair.eavesdropper_epsilon;
        if (pair.muffliato_epsilon) *row.muffliato += *pair.muffliato_epsilon;
    }
    std::vector<DistanceRow> result;
    for (auto& [distance, row] : rows) {
        row.mean /= row.pairs;
        row.ldp /= row.pairs;
        if (row.muffliato) *row.muffliato /= row.pairs;
        result.push_back(row);
    }
    return result;
}

void finish(AccountResult& result) {
    std::ranges::stable_sort(result.pairs, [](const PairFigure& a, const PairFigure& b) {
        return b.guarantee < a.guarantee;
    });
    result.by_distance = rows_by_distance(result.pairs);
    double sum = 0;
    for (const PairFigure& pair : result.pairs) sum += pair.guarantee.epsilon;
    result.mean_epsilon = result.pairs.empty() ? 0 : sum / static_cast<double>(result.pairs.size());
}

std::vector<int> parse_targets(const std::string& text, const Graph& graph) {
    if (text != "all") return parse_agent_list("--targets", text, graph);
    std::vector<int> all(static_cast<std::size_t>(graph.agents()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

}  // namespace

AccountResult run_account(const AccountConfig& config,
                          const AccountSubject& subject,
                          Network& network) {
    const auto start = Clock::now();
    const Graph& graph = *subject.process.graph;
    const auto guarantee = [&](int target, double squared) {
        const double unit = subject.exposures[static_cast<std::size_t>(target)].sensitivity;
        return guarantee_of(subject.plan, unit * std::sqrt(squared), subject.delta);
    };
    AccountResult result;
    ViewQuery query;
    std::vector<int> targets;
    network.agree([&] {
        query = parse_view("--view", config.view, graph);
        targets = parse_targets(config.targets, graph);
        if (config.targets != "all")
            for (const int member : query.members)
                if (std::ranges::binary_search(targets, member))
                    throw ConfigError(fmt::format(
                        "--targets: agent {} is an observer of --view {} and knows its own data",
                        member,
                        name_of(query)));
        targets = without(targets, query.members);
        if (targets.empty())
            throw ConfigError(
                fmt::format("--view {}: all agents are observers, nobody is left to learn about",
                            name_of(query)));
    });
    result.view = name_of(query);

    std::vector<Question> questions;
    Answers answers;
    if (query.kind == ViewQuery::Kind::worst_coalition ||
        query.kind == ViewQuery::Kind::worst_all_messages) {
        const WorstCoalitions worst =
            find_worst_coalitions(config, subject, network, query, targets);
        for (const auto& [target, found] : worst.by_target) {
            questions.push_back({{query.view_kind(), found.members}, {target}});
            answers.push_back({found.squared});
        }
        result.search = worst.search;
    } else if (query.kind == ViewQuery::Kind::all_nodes) {
        for (int observer = 0; observer < graph.agents(); ++observer) {
            auto others = without(targets, {observer});
            if (!others.empty())
                questions.push_back({{query.view_kind(), {observer}}, std::move(others)});
        }
    } else {
        questions.push_back({{query.view_kind(), query.members}, targets});
    }
    if (answers.empty()) answers = answer(network, subject, questions, config.how);

    network.agree([&] {
        // The eavesdropper, for comparison.
        Eigen::VectorXd local(graph.agents());
        if (subject.process.phases.size() == 1) {
            local = observed_precision(subject.plan, {});
            for (int u = 0; u < graph.agents(); ++u)
                local(u) *=
                    subject.exposures[static_cast<std::size_t>(u)].sensitivity_squared_over_rounds;
        } else {
            ViewOptions options;
            options.threads = config.how.threads;
            const auto all = view_losses(subject.process, subject.use, View{}, targets, options);
            for (std::size_t t = 0; t < targets.size(); ++t) local(targets[t]) = all[t].certified();
        }
        std::map<int, double> local_epsilon;
        for (const int u : targets) {
            const Guarantee against = guarantee(u, local(u));
            local_epsilon[u] = against.epsilon;
            if (u == targets.front() || result.eavesdropper < against)
                result.eavesdropper = against;
        }

        std::vector<std::vector<int>> distances(static_cast<std::size_t>(graph.agents()));
        const MuffliatoColumn muffliato(config, subject, query);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const View& view = questions[i].view;
            for (const int member : view.members)
                if (auto& row = distances[static_cast<std::size_t>(member)]; row.empty())
                    row = graph.distances_from(member);
            const Eigen::VectorXd bound = muffliato.of(view.members);
            for (std::size_t t = 0; t < questions[i].targets.size(); ++t) {
                PairFigure pair;
                pair.observers = view.members;
                pair.target = questions[i].targets[t];
                pair.distance = distance_of(distances, view.members, pair.target);
                pair.squared = answers[i][t];
                pair.guarantee = guarantee(pair.target, pair.squared.certified());
                pair.eavesdropper_epsilon = local_epsilon[pair.target];
                if (bound.size() > 0)
                    pair.muffliato_epsilon = guarantee(pair.target, bound(pair.target)).epsilon;
                pair.argument = argument_of(view, config.fixed_inputs, subject.plan.distribution());
                result.pairs.push_back(std::move(pair));
            }
        }
        finish(result);
    });
    result.seconds = since(start);
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
    const auto targets = parse_targets(targets_text, Graph::from_edges(agents, {}));
    const auto squared =
        matrix_sensitivity(a, b, agents, targets, participation, ViewOptions{}.tight_gap);
    AccountResult result;
    result.view = "matrices";
    for (std::size_t t = 0; t < targets.size(); ++t) {
        PairFigure pair;
        pair.target = targets[t];
        pair.squared = squared[t];
        const double mu = sensitivity * std::sqrt(pair.squared.certified());
        pair.guarantee = guarantee_of(PrivacyLoss::gaussian(mu), delta);
        pair.eavesdropper_epsilon = std::nan("");
        pair.argument =
            argument_of({View::Kind::neighbours, {}}, true, StreamDistribution::gaussian);
        result.pairs.push_back(std::move(pair));
    }
    finish(result);
    result.seconds = since(start);
    return result;
}

}  // namespace sotto
