#include "sotto/experiment/account_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "sotto/core/bytes.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One observer and whom it is asked about.
struct Question {
    View view;
    std::vector<int> targets;
};
using Answers = std::vector<std::vector<SquaredSensitivity>>;  // by question, by target

/// Answers of all questions, on every process: question i is worked on by process i mod P.
/// COLLECTIVE.
Answers answer(Network& network,
               const AccountSubject& subject,
               const std::vector<Question>& questions,
               const AccountConfig& config) {
    const int threads = config.threads;
    const auto processes = static_cast<std::size_t>(network.processes());
    std::vector<std::size_t> mine;
    for (auto i = static_cast<std::size_t>(network.process()); i < questions.size(); i += processes)
        mine.push_back(i);
    Answers answers(questions.size());
    network.agree([&] {
        // One observer has the machine to itself; many have a core each.
        const bool many = mine.size() > 1;
        ViewOptions options;
        options.threads = many ? 1 : threads;
        options.tight_gap = config.tight_gap;
        set_linear_algebra_threads(options.threads);
        parallel_for(static_cast<long>(mine.size()), many ? threads : 1, [&](long k) {
            const std::size_t i = mine[static_cast<std::size_t>(k)];
            answers[i] = view_sensitivity(subject.process,
                                          questions[i].view,
                                          questions[i].targets,
                                          config.plan.participation,
                                          options);
        });
        set_linear_algebra_threads(threads);
    });
    if (processes == 1) return answers;
    ByteWriter writer;
    for (const std::size_t i : mine)
        for (const SquaredSensitivity& value : answers[i]) {
            writer.put(static_cast<std::uint8_t>(value.infinite ? 1 : 0));
            for (const double number : {value.constant_sign,
                                        value.abs_sum,
                                        value.tight_lower,
                                        value.tight_upper,
                                        value.trivial})
                writer.put(number);
        }
    const auto all = network.all_gather(writer.take());
    network.agree([&] {
        for (std::size_t p = 0; p < processes; ++p) {
            ByteReader reader(all[p], fmt::format("the answers of rank {}", p));
            for (std::size_t i = p; i < questions.size(); i += processes) {
                answers[i].resize(questions[i].targets.size());
                for (SquaredSensitivity& value : answers[i]) {
                    value.infinite = reader.get<std::uint8_t>() != 0;
                    for (double* number : {&value.constant_sign,
                                           &value.abs_sum,
                                           &value.tight_lower,
                                           &value.tight_upper,
                                           &value.trivial})
                        *number = reader.get<double>();
                }
            }
            reader.require_done();
        }
    });
    return answers;
}

std::vector<int> without(const std::vector<int>& targets, const std::vector<int>& members) {
    std::vector<int> rest;
    std::ranges::set_difference(targets, members, std::back_inserter(rest));
    return rest;
}

/// Variance of every agent's private noise if each has one and the same, and no other.
std::optional<double> common_private_variance(const NoisePlan& plan) {
    if (plan.noiseless() || plan.aggregation != Aggregation::gossip) return std::nullopt;
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

    struct Found {
        std::vector<int> members;
        SquaredSensitivity squared;
    };
    /// The worst coalition met, for each target that was outside one.
    std::map<int, Found> run() {
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
            largest = std::max(largest, squared_mu(target, found.squared));
        search_.bound_attained = largest >= upper_squared_ * (1 - 1e-9);
        return worst_;
    }
    [[nodiscard]] const CoalitionSearch& search() const { return search_; }

  private:
    [[nodiscard]] double squared_mu(int target, const SquaredSensitivity& squared) const {
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
                upper_squared_ = std::max(upper_squared_,
                                          exposure.sensitivity * exposure.sensitivity *
                                              exposure.temporal_sensitivity * precision(u));
            }
        }
        search_.upper_mu = std::sqrt(upper_squared_);
        search_.upper_epsilon = gdp_epsilon(search_.upper_mu, config_.plan.delta);
    }

    /// Largest mu^2 over the targets outside, of every coalition.
    std::vector<double> evaluate(const std::vector<std::vector<int>>& coalitions) {
        std::vector<Question> questions;
        for (const auto& members : coalitions)
            questions.push_back({{kind_, members}, without(targets_, members)});
        const Answers answers = answer(network_, subject_, questions, config_);
        search_.evaluated += static_cast<long>(coalitions.size());
        std::vector<double> scores(coalitions.size(), 0);
        for (std::size_t i = 0; i < coalitions.size(); ++i)
            for (std::size_t t = 0; t < questions[i].targets.size(); ++t) {
                const int target = questions[i].targets[t];
                const double score = squared_mu(target, answers[i][t]);
                scores[i] = std::max(scores[i], score);
                if (static_cast<int>(coalitions[i].size()) != search_.size) continue;
                const auto known = worst_.find(target);
                if (known == worst_.end() || score > squared_mu(target, known->second.squared))
                    worst_[target] = {coalitions[i], answers[i][t]};
            }
        return scores;
    }

    /// The coalition that learns most among `members` and any one agent more, and its mu^2.
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
    std::map<int, Found> worst_;
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
        DistanceRow& row = rows[pair.distance];
        if (row.pairs == 0) {
            row = {pair.distance, 0, 0, pair.epsilon, 0, 0, 0, {}};
            if (pair.muffliato_epsilon) row.muffliato = 0;
        }
        ++row.pairs;
        if (std::isinf(pair.epsilon)) ++row.infinite;
        row.min = std::min(row.min, pair.epsilon);
        row.max = std::max(row.max, pair.epsilon);
        row.mean += pair.epsilon;
        row.ldp += pair.ldp_epsilon;
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
    std::ranges::stable_sort(result.pairs,
                             [](const PairFigure& a, const PairFigure& b) { return a.mu > b.mu; });
    result.by_distance = rows_by_distance(result.pairs);
    double sum = 0;
    for (const PairFigure& pair : result.pairs) sum += pair.epsilon;
    result.mean_epsilon = result.pairs.empty() ? 0 : sum / static_cast<double>(result.pairs.size());
}

std::vector<int> parse_targets(const std::string& text, const Graph& graph) {
    if (text != "all") return parse_agent_list("--targets", text, graph);
    std::vector<int> all(static_cast<std::size_t>(graph.agents()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

struct Departure {
    long round;
    std::vector<int> agents;
};

std::vector<Departure> parse_departures(const std::string& text, const Graph& graph, long rounds) {
    std::vector<Departure> departures;
    std::vector<int> gone;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(';', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        begin = end + 1;
        const std::size_t colon = part.find(':');
        if (colon == std::string::npos)
            throw ConfigError(
                fmt::format("--departures: '{}' is not ROUND:AGENTS (example: 50:3,7;80:2)", part));
        const long long round = parse_integer("--departures", part.substr(0, colon));
        const long long after = departures.empty() ? 0 : departures.back().round;
        if (round <= after || round >= rounds)
            throw ConfigError(fmt::format(
                "--departures: round {} is not allowed (rounds must ascend from 1 to {})",
                round,
                rounds - 1));
        auto agents = parse_agent_list("--departures", part.substr(colon + 1), graph);
        for (const int agent : agents)
            if (std::ranges::find(gone, agent) != gone.end())
                throw ConfigError(fmt::format("--departures: agent {} has already left", agent));
        gone.insert(gone.end(), agents.begin(), agents.end());
        if (static_cast<int>(gone.size()) >= graph.agents())
            throw ConfigError("--departures: nobody is left");
        departures.push_back({static_cast<long>(round), std::move(agents)});
    }
    return departures;
}

/// The rule among those who stay; the others keep what they have.
MixingMatrix mixing_without(const Graph& graph,
                            const std::vector<int>& gone,
                            const std::string& rule) {
    std::vector<int> number(static_cast<std::size_t>(graph.agents()), -1);
    std::vector<int> stay;
    for (int u = 0; u < graph.agents(); ++u)
        if (!std::ranges::binary_search(gone, u)) {
            number[static_cast<std::size_t>(u)] = static_cast<int>(stay.size());
            stay.push_back(u);
        }
    std::vector<Edge> edges;
    for (const auto& [u, v] : graph.edges()) {
        const int a = number[static_cast<std::size_t>(u)], b = number[static_cast<std::size_t>(v)];
        if (a >= 0 && b >= 0) edges.emplace_back(a, b);
    }
    const Graph rest = Graph::from_edges(static_cast<int>(stay.size()), std::move(edges));
    const MixingMatrix inner = make_mixing(rest, rule);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
    for (const int u : gone) dense(u, u) = 1;
    for (int a = 0; a < rest.agents(); ++a) {
        const auto members = inner.members(a);
        const auto weights = inner.weights(a);
        for (std::size_t j = 0; j < members.size(); ++j)
            dense(stay[static_cast<std::size_t>(a)], stay[static_cast<std::size_t>(members[j])]) =
                weights[j];
    }
    return MixingMatrix::from_dense(graph, dense);
}

MixingSchedule read_schedule(const Topography& topography, const std::string& path) {
    const Eigen::MatrixXd stacked = read_npy(path);
    const int n = topography.graph.agents();
    if (stacked.cols() != n || stacked.rows() % n != 0)
        throw DataError(fmt::format(
            "{}: {} x {} is not a stack of {} x {} mixing matrices, one below the other",
            path,
            stacked.rows(),
            stacked.cols(),
            n,
            n));
    std::vector<MixingMatrix> matrices;
    for (Eigen::Index i = 0; i < stacked.rows() / n; ++i) try {
            matrices.push_back(
                MixingMatrix::from_dense(topography.graph, stacked.middleRows(i * n, n)));
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: matrix {}: {}", path, i, error.what()));
        }
    return MixingSchedule(std::move(matrices));
}

}  // namespace

AccountSubject::AccountSubject(BuiltTopography topography, NoisePlan noise)
    : built(std::move(topography)), plan(std::move(noise)) {
    process.graph = &built.topography.graph;
    process.plan = &plan;
}

std::vector<Phase> phases_of(const Topography& topography,
                             const std::string& mixing,
                             const std::string& mixing_schedule,
                             const std::string& departures,
                             long rounds) {
    const bool fixed = mixing_schedule == "fixed";
    if (departures.empty())
        return {{rounds,
                 fixed ? MixingSchedule({topography.mixing})
                       : read_schedule(topography, mixing_schedule),
                 {}}};
    if (!fixed)
        throw ConfigError(
            "--departures: not possible with --mixing-schedule, whose matrices are for all agents");
    const auto rules = mixing_names();
    if (std::ranges::find(rules, mixing) == rules.end())
        throw ConfigError(fmt::format(
            "--departures: a mixing rule is needed for those who stay; --mixing is '{}'", mixing));
    std::vector<Phase> phases;
    std::vector<int> gone;
    long start = 0;
    auto next = parse_departures(departures, topography.graph, rounds);
    next.push_back({rounds, {}});
    for (Departure& departure : next) {
        phases.push_back({departure.round - start,
                          MixingSchedule({mixing_without(topography.graph, gone, mixing)}),
                          gone});
        start = departure.round;
        gone.insert(gone.end(), departure.agents.begin(), departure.agents.end());
        std::ranges::sort(gone);
    }
    return phases;
}

std::unique_ptr<AccountSubject> build_account_subject(const AccountConfig& config,
                                                      Network& network) {
    std::optional<BuiltTopography> built;
    std::vector<Exposure> exposures;
    std::optional<PlannedNoise> planned;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (config.noise_std) require_positive("--noise-std", *config.noise_std);
        if (config.sensitivity) require_positive("--sensitivity", *config.sensitivity);
        if (config.noise_std && config.plan.plan_file)
            throw ConfigError(
                "--noise-std: not possible with --plan, whose noise is what the file says");
        built = build_topography(config.graph);
        const int agents = built->topography.graph.agents();
        exposures = build_exposures(config.plan, agents, {});
        const std::optional<double> sensitivity = config.sensitivity ? config.sensitivity
                                                  : config.noise_std ? std::optional(1.0)
                                                                     : std::nullopt;
        if (sensitivity)
            for (auto& exposure : exposures) exposure.sensitivity = *sensitivity;
        auto budgets = build_budgets(config.plan, agents);
        if (config.noise_std)
            // The budget that 1/S^2 spends, so that kappa becomes that.
            for (std::size_t u = 0; u < budgets.size(); ++u) {
                budgets[u].mu = exposures[u].sensitivity *
                                std::sqrt(exposures[u].temporal_sensitivity) / *config.noise_std;
                budgets[u].epsilon = gdp_epsilon(budgets[u].mu, config.plan.delta);
            }
        // A rating nobody reads here, which takes a decomposition otherwise.
        PlanConfig design = config.plan;
        if (design.plan_file || !find_mechanism("mechanism", design.mechanism).uses_utility)
            design.utility = {Utility::Kind::one_step, 1};
        if (leader) planned = plan_noise(design, built->topography, exposures, budgets, false);
        if (leader && config.noise_std) {
            // S is the noise of one round, however sensitive correlation makes the whole run.
            NoisePlan& plan = planned->design.plan;
            const double participations = exposures.front().temporal_sensitivity;
            count_temporal_factor(plan, config.plan, exposures);
            plan.scale *= std::sqrt(participations / exposures.front().temporal_sensitivity);
        }
    });
    require_same_everywhere(
        network,
        to_hex(built->topography.graph.hash()) + to_hex(built->topography.mixing.hash()),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} has read another graph or mixing matrix than rank 0; give all ranks the "
                "same files",
                rank);
        });
    NoisePlan plan =
        share_plan(network, planned ? std::optional(planned->design.plan) : std::nullopt);
    auto subject = std::make_unique<AccountSubject>(std::move(*built), std::move(plan));
    network.agree([&] {
        count_temporal_factor(subject->plan, config.plan, exposures);
        subject->exposures = std::move(exposures);
        subject->process.phases = phases_of(subject->built.topography,
                                            config.graph.mixing,
                                            config.mixing_schedule,
                                            config.departures,
                                            config.plan.rounds);
        subject->process.gossip_steps = config.plan.gossip_steps;
        subject->process.step_sizes = config.plan.steps.over(config.plan.rounds);
    });
    if (planned) subject->plan_seconds = planned->seconds;
    return subject;
}

AccountResult run_account(const AccountConfig& config,
                          const AccountSubject& subject,
                          Network& network) {
    const auto start = Clock::now();
    const Graph& graph = *subject.process.graph;
    const double delta = config.plan.delta;
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
        WorstCoalition worst(config, subject, network, query, targets);
        for (auto& [target, found] : worst.run()) {
            questions.push_back({{query.view_kind(), found.members}, {target}});
            answers.push_back({found.squared});
        }
        result.search = worst.search();
    } else if (query.kind == ViewQuery::Kind::all_nodes) {
        for (int observer = 0; observer < graph.agents(); ++observer) {
            auto others = without(targets, {observer});
            if (!others.empty())
                questions.push_back({{query.view_kind(), {observer}}, std::move(others)});
        }
    } else {
        questions.push_back({{query.view_kind(), query.members}, targets});
    }
    if (answers.empty()) answers = answer(network, subject, questions, config);

    network.agree([&] {
        // The eavesdropper, for comparison.
        Eigen::VectorXd local(graph.agents());
        if (subject.process.phases.size() == 1) {
            local = observed_precision(subject.plan, {});
            for (int u = 0; u < graph.agents(); ++u)
                local(u) *= subject.exposures[static_cast<std::size_t>(u)].temporal_sensitivity;
        } else {
            ViewOptions options;
            options.threads = config.threads;
            const auto all = view_sensitivity(
                subject.process, View{}, targets, config.plan.participation, options);
            for (std::size_t t = 0; t < targets.size(); ++t) local(targets[t]) = all[t].certified();
        }
        std::map<int, double> local_epsilon;
        for (const int u : targets) {
            const double mu =
                subject.exposures[static_cast<std::size_t>(u)].sensitivity * std::sqrt(local(u));
            local_epsilon[u] = gdp_epsilon(mu, delta);
            result.ldp_mu = std::max(result.ldp_mu, mu);
        }
        result.ldp_epsilon = gdp_epsilon(result.ldp_mu, delta);

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
                const double unit =
                    subject.exposures[static_cast<std::size_t>(pair.target)].sensitivity;
                pair.mu = unit * std::sqrt(pair.squared.certified());
                pair.epsilon = gdp_epsilon(pair.mu, delta);
                pair.ldp_epsilon = local_epsilon[pair.target];
                if (bound.size() > 0)
                    pair.muffliato_epsilon =
                        gdp_epsilon(unit * std::sqrt(bound(pair.target)), delta);
                pair.argument = argument_of(view, config.fixed_inputs);
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
        pair.mu = sensitivity * std::sqrt(pair.squared.certified());
        pair.epsilon = gdp_epsilon(pair.mu, delta);
        pair.ldp_epsilon = std::nan("");
        pair.argument = argument_of({View::Kind::neighbours, {}}, true);
        result.pairs.push_back(std::move(pair));
    }
    result.ldp_mu = result.ldp_epsilon = std::nan("");
    finish(result);
    result.seconds = since(start);
    return result;
}

}  // namespace sotto
