#include "run/planning.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/text_input.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sotto/noise/reference_objectives.hpp"
#include "sotto/noise/seed_groups.hpp"
#include "sotto/noise/temporal_utility.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

double parse_epsilon(std::string_view where, std::string_view word) {
    const double epsilon = parse_real(where, word);
    require_positive(where, epsilon);
    return epsilon;
}

std::vector<double> read_epsilons(const std::string& path, int agents) try {
    std::vector<double> epsilons;
    std::set<long long> named;
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        line = line.substr(0, line.find('#'));
        std::vector<std::string> words;
        for (std::size_t i = 0; i < line.size();) {
            const std::size_t begin = line.find_first_not_of(" \t,", i);
            if (begin == std::string_view::npos) break;
            const std::size_t end = std::min(line.find_first_of(" \t,", begin), line.size());
            words.emplace_back(line.substr(begin, end - begin));
            i = end;
        }
        if (words.empty()) continue;
        const std::string where = fmt::format("{}:{}", path, reader.line_number());
        if (words.size() > 2)
            throw DataError(where +
                            ": a line of a budgets file is \"epsilon\" or \"agent epsilon\"");
        if (words.size() == 2) {
            if (named.empty() && !epsilons.empty())
                throw DataError(where + ": lines with and without an agent are mixed");
            const long long agent = parse_integer(where, words[0]);
            require_in_range(where + ": agent", static_cast<double>(agent), 0, agents - 1);
            if (!named.insert(agent).second)
                throw DataError(fmt::format("{}: agent {} appears twice", where, agent));
            epsilons.resize(static_cast<std::size_t>(agents), std::nan(""));
            epsilons[static_cast<std::size_t>(agent)] = parse_epsilon(where, words[1]);
        } else {
            if (!named.empty())
                throw DataError(where + ": lines with and without an agent are mixed");
            epsilons.push_back(parse_epsilon(where, words[0]));
        }
    }
    const auto wanted = static_cast<std::size_t>(agents);
    const std::size_t given = named.empty() ? epsilons.size() : named.size();
    if (given != wanted)
        throw DataError(
            fmt::format("{}: {} budgets for {} agents (one each is needed)", path, given, agents));
    return epsilons;
} catch (const ConfigError& error) {
    throw DataError(error.what());  // what is wrong with a number of a file is wrong with the data
}

const Guarantee& largest(const std::vector<Guarantee>& guarantees) {
    return *std::ranges::max_element(guarantees, std::less());
}

/// The precision of noise of this standard deviation; Laplace noise counts by its scale.
double precision_of_std(double noise_std, bool laplace) {
    return (laplace ? 2 : 1) / (noise_std * noise_std);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Matrices of one period; a random schedule makes the union of its graphs the graph.
std::vector<MixingMatrix> schedule_of(const GraphConfig& config, long rounds, Graph& graph) {
    const std::string& schedule = config.mixing_schedule;
    if (schedule == "fixed") return {make_mixing(graph, config.mixing)};
    if (schedule == "one-peer") return one_peer_schedule(graph);
    if (schedule == "random") {
        if (config.file)
            throw ConfigError(
                "mixing-schedule: random draws graphs of a --topology, not of a --graph FILE");
        ScheduledMixing random = random_schedule(config.topology, config.mixing, rounds);
        graph = std::move(random.graph);
        return std::move(random.matrices);
    }
    if (!std::filesystem::exists(schedule)) {
        const std::vector<std::string> allowed{"fixed", "random", "one-peer", "FILE.npy"};
        throw unknown_name_error("mixing-schedule", schedule, allowed);
    }
    return read_mixing_schedule(graph, schedule);
}

}  // namespace

BuiltTopography build_topography(const GraphConfig& config, long rounds) {
    std::vector<std::string> notes;
    std::string description;
    std::optional<Graph> graph;
    if (config.file) {
        LoadedGraph loaded = read_edge_list(*config.file);
        description = fmt::format("file {}", *config.file);
        if (loaded.report.components > 1)
            notes.push_back(fmt::format(
                "{}: {} components; using the largest, {} of {} agents and {} of {} edges",
                *config.file,
                loaded.report.components,
                loaded.report.agents,
                loaded.report.labels,
                loaded.graph.edges().size(),
                loaded.report.edges));
        graph = std::move(loaded.graph);
    } else {
        GeneratedGraph generated = make_topology(config.topology);
        description = name_of(config.topology.topology);
        if (config.topology.topology == Topology::erdos_renyi)
            description += fmt::format(" p={} (graph seed {})",
                                       config.topology.edge_probability,
                                       config.topology.graph_seed);
        if (generated.attempts > 1)
            notes.push_back(fmt::format("the first {} draws were not connected; using draw {}",
                                        generated.attempts - 1,
                                        generated.attempts));
        graph = std::move(generated.graph);
    }
    if (!graph->connected())
        throw ConfigError(
            "graph: it is not connected; agents in different parts could never agree");
    std::vector<MixingMatrix> matrices = schedule_of(config, rounds, *graph);
    if (config.mixing_schedule != "fixed")
        description += fmt::format(", mixing schedule {} of {} round{}",
                                   config.mixing_schedule,
                                   matrices.size(),
                                   matrices.size() == 1 ? "" : "s");
    MixingMatrix first = std::move(matrices.front());
    matrices.erase(matrices.begin());
    return {{std::move(*graph), std::move(first), std::move(matrices)},
            std::move(description),
            std::move(notes)};
}

int agents_of(const GraphConfig& config) {
    return config.file ? build_topography(config, 1).topography.graph.agents()
                       : config.topology.agents;
}

std::vector<PrivacyBudget> build_budgets(const PlanConfig& config, int agents) {
    if (!find_mechanism("mechanism", config.mechanism).needs_budget && !config.plan_file)
        return std::vector<PrivacyBudget>(static_cast<std::size_t>(agents),
                                          {0, config.delta, config.calibration, 0, false});
    const std::vector<double> epsilons =
        config.budgets_file ? read_epsilons(*config.budgets_file, agents)
                            : std::vector<double>(static_cast<std::size_t>(agents), config.epsilon);
    const bool pure =
        find_mechanism("mechanism", config.mechanism).distribution == StreamDistribution::laplace;
    std::vector<PrivacyBudget> budgets;
    for (const double epsilon : epsilons)
        budgets.push_back(pure ? make_pure_budget(epsilon)
                               : make_budget(epsilon, config.delta, config.calibration));
    return budgets;
}

std::vector<Exposure> build_exposures(const PlanConfig& config,
                                      int agents,
                                      const std::vector<Eigen::Index>& records) {
    std::vector<Exposure> exposures;
    for (int u = 0; u < agents; ++u)
        exposures.push_back(
            agent_exposure(config.adjacency,
                           config.participation,
                           config.clip_norm,
                           config.rounds,
                           records.empty() ? 0 : records[static_cast<std::size_t>(u)],
                           config.batch_size));
    return exposures;
}

PlanUse plan_use(const PlanConfig& config, const MixingMatrix& mixing) {
    return {config.participation, config.steps, mixing.sparse().diagonal(), config.gossip_steps};
}

void count_plan(const NoisePlan& plan,
                const PlanConfig& config,
                const Topography& topography,
                std::vector<Exposure>& exposures,
                std::vector<PrivacyBudget>& budgets) {
    const bool pure = plan.distribution() == StreamDistribution::laplace;
    if (pure && config.adjacency != Adjacency::agent)
        throw ConfigError(fmt::format(
            "adjacency: '{}' is not possible with mechanism {}, whose gradients are clipped in L1 "
            "norm (allowed: agent)",
            name_of(config.adjacency),
            plan.mechanism));
    if (!plan.same_message_to_all() && !topography.later_mixing.empty())
        throw ConfigError(fmt::format(
            "mixing-schedule: not possible with mechanism {}, whose noise cancels for one mixing "
            "matrix (allowed: fixed)",
            plan.mechanism));
    const Eigen::VectorXd squared =
        run_sensitivity_squared(plan, plan_use(config, topography.mixing), config.rounds);
    for (std::size_t u = 0; u < exposures.size(); ++u)
        exposures[u].temporal_sensitivity = squared(static_cast<Eigen::Index>(u));
    if (plan.noiseless()) return;
    for (std::size_t u = 0; u < budgets.size(); ++u) {
        PrivacyBudget& budget = budgets[u];
        if (config.noise_std) {
            // What the configured noise spends, whatever the plan says.
            const Guarantee spent = guarantee_of(
                plan,
                exposures[u].sensitivity * std::sqrt(exposures[u].temporal_sensitivity *
                                                     precision_of_std(*config.noise_std, pure)),
                config.delta);
            budget = pure ? make_pure_budget(spent.epsilon)
                          : PrivacyBudget{
                                spent.epsilon, config.delta, Calibration::exact, spent.mu, false};
        } else if (budget.pure != pure) {
            budget = pure ? make_pure_budget(budget.epsilon)
                          : make_budget(budget.epsilon, config.delta, config.calibration);
        }
    }
}

namespace {

/// The mechanism that correlates agents: the mechanism itself, or the part of it that was chosen.
const Mechanism& spatial_part(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.takes_spatial) return mechanism;
    const Mechanism& spatial = find_mechanism("spatial-mechanism", config.spatial_mechanism);
    require_spatial_part(spatial);
    return spatial;
}

}  // namespace

int coalition_size_of(const PlanConfig& config, int agents, const NoisePlan* plan) {
    if (config.plan_file)
        return config.coalition_size ? *config.coalition_size
               : plan != nullptr     ? plan->coalition_size
                                     : 0;
    const Mechanism& mechanism = spatial_part(config);
    const int size =
        config.coalition_size.value_or(std::min(mechanism.default_coalition_size, agents - 1));
    if (size > 0 && !mechanism.coalitions)
        throw ConfigError(
            fmt::format("coalition-size: {} is not allowed with mechanism {}, which protects "
                        "against no curious agent (allowed: 0, or a mechanism that does: {})",
                        size,
                        mechanism.name,
                        join(recommended_mechanisms([](const Mechanism& other) {
                                 return other.coalitions && other.spatial_part;
                             }),
                             ", ")));
    check_coalition_size(agents, size);
    return size;
}

PlannedNoise plan_noise(const PlanConfig& config,
                        const Topography& topography,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        bool compare) {
    const auto start = std::chrono::steady_clock::now();
    DesignInput input;
    input.graph = &topography.graph;
    input.mixing = &topography.mixing;
    input.utility = config.utility;
    input.rounds = config.rounds;
    input.gossip_steps = config.gossip_steps;
    input.participation = config.participation;
    input.clip_norm = config.clip_norm;
    input.variance_cap = config.variance_cap;
    input.common_variance = config.common_variance;
    PlannedNoise planned;
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    const Mechanism& spatial = spatial_part(config);
    input.spatial = &spatial;
    input.steps = config.steps;
    if (mechanism.correlates_rounds) input.utility = {Utility::Kind::trajectory, 0};
    std::optional<Eigen::MatrixXd> scheduled;
    if (!topography.later_mixing.empty()) {
        if (mechanism.correlates_rounds)
            throw ConfigError(fmt::format(
                "mixing-schedule: not possible with mechanism {}, which correlates rounds for one "
                "mixing matrix (allowed: fixed)",
                mechanism.name));
        scheduled = utility_matrix(
            topography.schedule(), config.utility, config.rounds, config.gossip_steps);
    }
    input.given_utility = scheduled;
    const bool budgeted = mechanism.needs_budget || config.plan_file.has_value();
    const int agents = topography.graph.agents();
    if (!config.plan_file) {
        if (!mechanism.takes_temporal &&
            (config.temporal.kind != TemporalShape::Kind::dense || config.temporal.restart > 0))
            throw ConfigError(fmt::format(
                "temporal: mechanism {} has no temporal factor to choose (allowed with {})",
                mechanism.name,
                join(mechanisms_with(&Mechanism::takes_temporal), ", ")));
        input.temporal = config.temporal;
        input.coalition_size = coalition_size_of(config, agents, nullptr);
        if (spatial.seed_groups)
            input.seed_groups = make_seed_groups(
                config.seed_groups.empty() ? default_seed_groups(agents) : config.seed_groups,
                topography.graph);
        else if (!config.seed_groups.empty())
            throw ConfigError(
                fmt::format("seed-groups: mechanism {} has its own (allowed with {})",
                            spatial.name,
                            join(recommended_mechanisms(&Mechanism::seed_groups), ", ")));
        if (config.common_variance && !spatial.seed_groups)
            throw ConfigError(
                fmt::format("common-variance: mechanism {} has no choice (allowed with {})",
                            spatial.name,
                            join(recommended_mechanisms(&Mechanism::seed_groups), ", ")));
    }
    if (budgeted) {
        planned.kappa.resize(static_cast<Eigen::Index>(exposures.size()));
        for (std::size_t u = 0; u < exposures.size(); ++u)
            planned.kappa(static_cast<Eigen::Index>(u)) =
                config.noise_std
                    ? precision_of_std(*config.noise_std,
                                       mechanism.distribution == StreamDistribution::laplace)
                    : precision_limit(budgets[u], exposures[u]);
        input.kappa = planned.kappa;
    }
    if (config.plan_file) {
        if (config.noise_std)
            throw ConfigError(
                "--noise-std: not possible with --plan, whose noise is what the file says");
        planned.solved = false;
        NoisePlan& plan = planned.design.plan;
        plan = plan_from_json(read_file(*config.plan_file), *config.plan_file);
        if (plan.agents != topography.graph.agents())
            throw ConfigError(fmt::format("plan: {} is made for {} agents, the graph has {}",
                                          *config.plan_file,
                                          plan.agents,
                                          topography.graph.agents()));
        const MixingMatrix mixing = plan.aggregation == Aggregation::trusted_mean
                                        ? MixingMatrix::average(plan.agents)
                                        : topography.mixing;
        if (plan.temporal.kind != TemporalFactor::Kind::identity) {
            input.utility = {Utility::Kind::trajectory, 0};
            input.given_utility =
                spatial_utility(mixing, plan.temporal, design_steps(input), config.gossip_steps);
        } else {
            input.mixing = &mixing;
            if (plan.aggregation == Aggregation::trusted_mean) input.given_utility.reset();
        }
        const bool on_gradients = plan.same_message_to_all() && plan.entry == NoiseEntry::gradient;
        planned.design.objective =
            on_gradients ? design_utility(input).cwiseProduct(spatial_covariance(plan)).sum() *
                               planned.kappa.minCoeff()
                         : std::nan("");
        input.mixing = &topography.mixing;
        input.given_utility = scheduled;
        planned.design.lower_bound = std::nan("");
    } else {
        planned.design = mechanism.design(input);
        if (config.noise_std && !planned.design.plan.noiseless()) {
            // S is the noise of one round, however much louder rounds together have to be.
            NoisePlan& plan = planned.design.plan;
            const Eigen::VectorXd squared =
                run_sensitivity_squared(plan, plan_use(config, topography.mixing), config.rounds);
            const double counted =
                temporal_sensitivity_squared({}, config.participation, config.rounds);
            for (auto& row : plan.rows)
                for (double& coefficient : row.coefficients)
                    coefficient *= std::sqrt(counted / squared(row.sender));
            plan.grid_step_log2 +=
                static_cast<int>(std::floor(0.5 * std::log2(counted / squared.maxCoeff())));
        }
    }
    planned.utility = input.utility;
    planned.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (budgeted && compare) {
        planned.ldp_objective = independent_objective(input);
        planned.cdp_objective = trusted_mean_objective(input);
    }
    return planned;
}

std::string plan_report_json(const PlannedNoise& planned,
                             const PlanConfig& config,
                             const std::vector<Exposure>& exposures,
                             const std::vector<PrivacyBudget>& budgets) {
    const NoisePlan& plan = planned.design.plan;
    const auto guaranteed =
        coalition_guarantees(plan, plan.coalition_size, exposures, budgets.front().delta);
    const Eigen::VectorXd variances = largest_message_variance(plan);
    const Guarantee& worst = largest(guaranteed);
    Json json;
    json["mechanism"] = plan.mechanism;
    json["agents"] = plan.agents;
    json["utility"] = name_of(planned.utility);
    json["calibration"] = name_of(config.calibration);
    json["adjacency"] = name_of(config.adjacency);
    json["participation"] = name_of(config.participation);
    json["rounds"] = config.rounds;
    json["gossip_steps"] = config.gossip_steps;
    json["kappa"] = planned.kappa.size() > 0 ? number(planned.kappa.minCoeff()) : Json();
    json["mu"] = number(worst.mu);
    json["objective"] = number(planned.design.objective);
    json["lower_bound"] = number(planned.design.lower_bound);
    json["relative_gap"] = number(planned.design.relative_gap());
    json["capped"] = planned.design.capped;
    json["ldp_objective"] = planned.ldp_objective;
    json["cdp_objective"] = planned.cdp_objective;
    json["independent_variance"] = plan.same_message_to_all() && plan.entry == NoiseEntry::gradient
                                       ? Json(symmetric_eigenvalues(spatial_covariance(plan))(0))
                                       : Json();
    json["max_variance"] = variances.maxCoeff();
    json["noise_std"] = {{"min", std::sqrt(variances.minCoeff())},
                         {"max", std::sqrt(variances.maxCoeff())}};
    json["streams_per_agent"] = plan.streams_per_agent();
    json["coalition_size"] = plan.coalition_size;
    json["sensitivity"] = exposures.front().sensitivity;
    json["sensitivity_squared"] = exposures.front().temporal_sensitivity;
    json["epsilon"] = number(worst.epsilon);
    json["infinite"] = worst.infinite();
    json["epsilon_target"] = plan.noiseless() ? Json() : Json(budgets.front().epsilon);
    json["delta"] = budgets.front().delta;
    json["per_agent"] = Json::array();
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const auto i = static_cast<Eigen::Index>(u);
        json["per_agent"].push_back(
            {{"agent", u},
             {"kappa", planned.kappa.size() > 0 ? Json(planned.kappa(i)) : Json()},
             {"mu", number(guaranteed[u].mu)},
             {"epsilon", number(guaranteed[u].epsilon)},
             {"noise_std", std::sqrt(variances(i))},
             {"sensitivity", exposures[u].sensitivity},
             {"sensitivity_squared", exposures[u].temporal_sensitivity}});
    }
    json["plan_hash"] = to_hex(plan.hash());
    json["seconds"] = planned.seconds;
    return json.dump(2) + "\n";
}

std::string plan_report_text(const PlannedNoise& planned,
                             const PlanConfig& config,
                             const std::vector<Exposure>& exposures,
                             const std::vector<PrivacyBudget>& budgets,
                             const Ledger* ledger) {
    const NoisePlan& plan = planned.design.plan;
    const Design& design = planned.design;
    std::string text = fmt::format(
        "plan       {} for {} agents{}\n",
        plan.mechanism,
        plan.agents,
        planned.solved                      ? fmt::format(", solved in {:.3g} s", planned.seconds)
        : config.plan_file && !planned.kept ? fmt::format(", from {}", *config.plan_file)
                                            : ", of the run's directory");
    if (plan.noiseless()) {
        text += "noise      none: epsilon is infinite\n";
    } else {
        const auto guaranteed = guarantees(plan, {}, exposures, budgets.front().delta);
        const Eigen::VectorXd variances = largest_message_variance(plan);
        text += fmt::format(
            "budget     {}; adjacency {}, participation {}, {} rounds{}\n",
            budgets.front().pure
                ? fmt::format("epsilon {:.6g}, pure", budgets.front().epsilon)
                : fmt::format("epsilon {:.6g} at delta {:g}, {} calibration: mu {:.6g}",
                              budgets.front().epsilon,
                              budgets.front().delta,
                              name_of(budgets.front().calibration),
                              largest(guaranteed).mu),
            name_of(config.adjacency),
            name_of(config.participation),
            config.rounds,
            config.gossip_steps > 1 ? fmt::format(" of {} gossip steps", config.gossip_steps)
                                    : std::string());
        text += fmt::format(
            "noise      std {:.4g} to {:.4g} a coordinate on {} clipped to {:g}{}; {} "
            "stream{} an agent at most\n",
            plan.aggregation == Aggregation::trusted_mean ? std::sqrt(variances.maxCoeff())
                                                          : std::sqrt(variances.minCoeff()),
            std::sqrt(variances.maxCoeff()),
            plan.entry == NoiseEntry::gradient ? "gradients" : "messages, whose gradients are",
            config.clip_norm,
            budgets.front().pure ? " in L1 norm" : "",
            plan.streams_per_agent(),
            plan.streams_per_agent() == 1 ? "" : "s");
        if (std::isfinite(design.objective))
            text += fmt::format(
                "survives   {:.6g} (utility {}, at kappa 1); ldp {:.6g}, trusted aggregator "
                "{:.6g}\n",
                design.objective,
                name_of(planned.utility),
                planned.ldp_objective,
                planned.cdp_objective);
        if (std::isfinite(design.objective))
            text += fmt::format(
                "           {:.3g} times less than ldp, {:.3g} times the trusted aggregator's\n",
                planned.ldp_objective / design.objective,
                design.objective / planned.cdp_objective);
        if (std::isfinite(design.lower_bound))
            text += fmt::format("optimal    certified to {:.2g} relative{}\n",
                                std::max(0.0, design.relative_gap()),
                                design.capped
                                    ? fmt::format(" (R_uu is capped at {:g}/kappa: without a cap "
                                                  "the optimum would diverge)",
                                                  config.variance_cap)
                                    : "");
        text += fmt::format(
            "protected  against an eavesdropper on all messages: every agent, epsilon {:.6g}\n",
            largest(guaranteed).epsilon);
        if (plan.coalition_size > 0) {
            const bool one = plan.coalition_size == 1;
            text += fmt::format(
                "           and against any {} of them who see{} all messages too: epsilon "
                "{:.6g}\n",
                one ? std::string("one") : std::to_string(plan.coalition_size),
                one ? "s" : "",
                largest(coalition_guarantees(
                            plan, plan.coalition_size, exposures, budgets.front().delta))
                    .epsilon);
        }
        if (plan.agents > 1 && plan.agents <= 128) {
            const auto worst = worst_curious_agent(plan, exposures, budgets.front().delta);
            text += !worst->guarantee.infinite()
                        ? fmt::format(
                              "curious    agent {} learns most, about agent {}: epsilon {:.6g}\n",
                              worst->observer,
                              worst->target,
                              worst->guarantee.epsilon)
                        : fmt::format(
                              "curious    NOT protected: agent {} can remove all noise of agent {} "
                              "(epsilon infinite)\n",
                              worst->observer,
                              worst->target);
        }
    }
    const auto statements = ledger != nullptr ? ledger->statements()
                                              : Ledger(plan,
                                                       exposures,
                                                       budgets,
                                                       config.adjacency,
                                                       {config.participation, config.steps, {}},
                                                       config.rounds,
                                                       false,
                                                       "")
                                                    .statements();
    for (const auto& statement : statements) text += "note       " + statement + "\n";
    return text;
}

}  // namespace sotto
