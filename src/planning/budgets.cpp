#include "planning/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text_input.hpp"
#include "design/changing_utility.hpp"
#include "design/joint_solver.hpp"
#include "design/temporal_utility.hpp"
#include "plan/lagged_noise.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/noise_schedule.hpp"
#include "planning/plan_report.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

/// The words of a line, without its comment.
std::vector<std::string_view> words_of_line(std::string_view line) {
    constexpr std::string_view separators = " \t,";
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (std::size_t begin = line.find_first_not_of(separators); begin < line.size();) {
        const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        begin = line.find_first_not_of(separators, end);
    }
    return words;
}

/// Epsilons of all agents from the lines of a budgets file. Either every line names its agent, or
/// none does.
class EpsilonsOfFile {
  public:
    EpsilonsOfFile(std::string path, int agents) : path_(std::move(path)), agents_(agents) {}

    void add(const std::vector<std::string_view>& words, const std::string& where) {
        if (words.empty()) return;
        if (words.size() > 2)
            throw DataError(where +
                            ": a line of a budgets file is \"epsilon\" or \"agent epsilon\"");
        const bool with_agent = words.size() == 2;
        if (with_agent ? named_.empty() && !epsilons_.empty() : !named_.empty())
            throw DataError(where + ": lines with and without an agent are mixed");
        std::size_t place = epsilons_.size();
        if (with_agent) place = agent_of(words.front(), where);
        if (place >= static_cast<std::size_t>(agents_))
            throw DataError(
                fmt::format("{}: one budget more than there are agents, {} (one each is needed)",
                            where,
                            agents_));
        const double epsilon = parse_real(where, words.back());
        require_positive(where, epsilon);
        if (place >= epsilons_.size())
            epsilons_.resize(with_agent ? static_cast<std::size_t>(agents_) : place + 1);
        epsilons_[place] = epsilon;
    }

    [[nodiscard]] std::vector<double> finish() && {
        const std::size_t given = named_.empty() ? epsilons_.size() : named_.size();
        if (given != static_cast<std::size_t>(agents_))
            throw DataError(fmt::format(
                "{}: {} budgets for {} agents (one each is needed)", path_, given, agents_));
        return std::move(epsilons_);
    }

  private:
    std::size_t agent_of(std::string_view word, const std::string& where) {
        const long long agent = parse_integer(where, word);
        require_in_range(where + ": agent", static_cast<double>(agent), 0, agents_ - 1);
        if (!named_.insert(agent).second)
            throw DataError(fmt::format("{}: agent {} appears twice", where, agent));
        return static_cast<std::size_t>(agent);
    }

    std::string path_;
    int agents_;
    std::vector<double> epsilons_;
    std::set<long long> named_;
};

std::vector<double> read_epsilons(const std::string& path, int agents) try {
    EpsilonsOfFile epsilons(path, agents);
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line))
        epsilons.add(words_of_line(line), fmt::format("{}:{}", path, reader.line_number()));
    return std::move(epsilons).finish();
} catch (const ConfigError& error) {
    throw DataError(error.what());  // an invalid number in a file is an error of the data
}

void require_possible(const NoisePlan& plan,
                      const PlanConfig& config,
                      const Topography& topography) {
    if (plan.distribution() == StreamDistribution::laplace && !protects_agents(config.adjacency))
        throw ConfigError(fmt::format(
            "adjacency: '{}' is not possible with mechanism {}, whose gradients are clipped in L1 "
            "norm (allowed: agent, agent-zero-out)",
            name_of(config.adjacency),
            plan.mechanism));
    if (config.participation.is_secret() && !plan.noiseless()) {
        if (plan.distribution() != StreamDistribution::gaussian || !plan.same_message_to_all() ||
            plan.entry != NoiseEntry::gradient)
            throw ConfigError(
                fmt::format("participation: {} is not possible with mechanism {}, whose noise is "
                            "not Gaussian noise on gradients (allowed: {})",
                            name_of(config.participation),
                            plan.mechanism,
                            join(mechanisms_with(&Mechanism::independent_rounds), ", ")));
        require_separate_rounds(plan.temporal, config.participation, config.rounds);
    }
    if (!plan.same_message_to_all() && !topography.later_mixing.empty())
        throw ConfigError(fmt::format(
            "mixing-schedule: not possible with mechanism {}, whose noise cancels for one mixing "
            "matrix (allowed: fixed)",
            plan.mechanism));
}

}  // namespace

std::vector<PrivacyBudget> build_budgets(const PlanConfig& config, int agents) {
    const auto count = static_cast<std::size_t>(agents);
    if (!find_mechanism("mechanism", config.mechanism).needs_budget && !config.plan_file)
        return std::vector<PrivacyBudget>(count, no_budget(config.delta, config.calibration));
    const std::vector<double> epsilons = config.budgets_file
                                             ? read_epsilons(*config.budgets_file, agents)
                                             : std::vector<double>(count, config.epsilon);
    const StreamDistribution noise = configured_noise(config);
    std::vector<PrivacyBudget> budgets;
    for (const double epsilon : epsilons)
        budgets.push_back(make_budget(noise, epsilon, config.delta, config.calibration));
    return budgets;
}

std::vector<Exposure> build_exposures(const SettledPlan& config,
                                      int agents,
                                      const std::vector<Eigen::Index>& records) {
    if (config.sampling_probability && !records.empty())
        throw ConfigError(
            fmt::format("--sampling-probability: {} is not possible where data are read; there it "
                        "is --batch-size / records of each agent",
                        *config.sampling_probability));
    require_possible_updates(config);
    std::vector<Exposure> exposures;
    for (int u = 0; u < agents; ++u)
        exposures.push_back(agent_exposure(
            config.adjacency,
            config.participation,
            config.clip_norm,
            config.rounds,
            records.empty() ? 0 : records[static_cast<std::size_t>(u)],
            config.batch_size.of(records.empty() ? 0 : records[static_cast<std::size_t>(u)]),
            protects_agents(config.adjacency) ? config.client_probability
                                              : config.sampling_probability));
    return exposures;
}

namespace {

/// Patterns of the rounds from config.steps.first_round on.
std::vector<SampledPattern> sampled_patterns(
    const PlanConfig& config,
    int agent,
    const std::function<PrivacyLoss(int agent, long pattern)>& spent) {
    const Participation& participation = config.participation;
    if (!spent)  // the longest pattern determines the result
        return {{std::lround(temporal_sensitivity_squared({}, participation, config.rounds)), {}}};
    const Eigen::VectorXd counts = pattern_sensitivities_squared({}, participation, config.rounds);
    // Patterns without an earlier or future round are left out.
    const long first = config.steps.first_round;
    const long patterns = std::min(participation.cycle, first + config.rounds);
    std::vector<SampledPattern> result(static_cast<std::size_t>(patterns));
    for (long p = 0; p < patterns; ++p) result[static_cast<std::size_t>(p)].spent = spent(agent, p);
    for (Eigen::Index j = 0; j < counts.size(); ++j)
        result[static_cast<std::size_t>((first + j) % participation.cycle)].rounds =
            std::lround(counts(j));
    return result;
}

}  // namespace

void count_sampling(std::vector<PrivacyBudget>& budgets,
                    const std::vector<Exposure>& exposures,
                    const PlanConfig& config,
                    std::span<const int> agents,
                    const std::function<PrivacyLoss(int agent, long pattern)>& spent) {
    if (!config.participation.is_secret() || config.noise_std) return;
    const auto levels = round_levels(scheduled_factor(config), config.participation, config.rounds);
    std::map<std::tuple<double, double>, PrivacyBudget> known;  // where nothing was spent
    for (const int u : agents) {
        PrivacyBudget& budget = budgets[static_cast<std::size_t>(u)];
        if (budget.epsilon == 0) continue;  // no guarantee is promised
        const double probability = exposures[static_cast<std::size_t>(u)].sampling_probability;
        const SampledRounds kind{.sampling_probability = probability,
                                 .rounds_an_epoch = config.participation.rounds_an_epoch};
        const std::vector<SampledPattern> patterns = sampled_patterns(config, u, spent);
        const bool nothing = std::ranges::all_of(
            patterns, [](const SampledPattern& pattern) { return pattern.spent == PrivacyLoss(); });
        const std::tuple key(budget.epsilon, probability);
        if (const auto found = known.find(key); nothing && found != known.end()) {
            budget = found->second;
            continue;
        }
        budget = levels.empty()
                     ? sampled_budget(budget, kind, patterns)
                     : sampled_budget(budget, probability, levels, patterns.front().spent);
        if (nothing) known.emplace(key, budget);
    }
}

CountedRounds count_rounds(const SettledPlan& config,
                           int agents,
                           const std::vector<Eigen::Index>& records) {
    CountedRounds counted{build_exposures(config, agents, records), build_budgets(config, agents)};
    count_sampling(
        counted.budgets, counted.exposures, config, Membership::everybody(agents).numbers);
    return counted;
}

StreamDistribution configured_noise(const PlanConfig& config) {
    return find_mechanism("mechanism", config.mechanism).distribution;
}

double precision_of_std(double noise_std, StreamDistribution noise) {
    return unit_variance(noise) / (noise_std * noise_std);
}

PlanUse plan_use(const PlanConfig& config, const MixingMatrix& mixing) {
    return {config.participation, config.steps, mixing.sparse().diagonal(), config.gossip_steps};
}

CountedPlan count_plan(const NoisePlan& plan,
                       const SettledPlan& config,
                       const Topography& topography,
                       CountedRounds rounds) {
    auto& [exposures, budgets] = rounds;
    require_possible(plan, config, topography);
    const Eigen::VectorXd squared =
        run_sensitivity_squared(plan, plan_use(config, topography.mixing), config.rounds);
    const auto levels = round_levels(plan.temporal, config.participation, config.rounds);
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        exposures[u].sensitivity_squared_over_rounds = squared(static_cast<Eigen::Index>(u));
        exposures[u].levels = levels;
    }
    const StreamDistribution noise = plan.distribution();
    for (std::size_t u = 0; u < budgets.size() && !plan.noiseless(); ++u) {
        if (!config.noise_std) {
            budgets[u] = budget_against(noise, budgets[u], config.delta, config.calibration);
            continue;
        }
        // The configured noise determines the loss, whatever the plan contains.
        const Exposure& exposure = exposures[u];
        budgets[u] =
            budget_spent_by(loss_of(noise, exposure, precision_of_std(*config.noise_std, noise)),
                            noise,
                            config.delta);
    }
    return {std::move(rounds)};
}

namespace {

void require_comparable(const PlanConfig& config, const NoisePlan& plan) {
    const auto refuse = [&](std::string_view why) {
        throw ConfigError(fmt::format("unrestricted-bound: on is not possible {} (allowed: off)",
                                      std::string(why)));
    };
    if (plan.noiseless()) refuse("without noise");
    if (plan.aggregation != Aggregation::gossip) refuse("with a trusted aggregator");
    if (plan.entry != NoiseEntry::gradient || !plan.same_message_to_all() ||
        plan.distribution() != StreamDistribution::gaussian)
        refuse("with noise on messages");
    if (config.participation.is_secret())
        refuse("with sampled rounds, which are counted one by one");
    if (config.correction != Correction::none)
        refuse("with --correction, which mixes what rounds leave");
    if (config.momentum > 0) refuse("with --momentum, which adds up what rounds leave");
}

/// H of all agents and rounds, and of rounds alone for a covariance R. Step sizes are relative to
/// the first.
class TrajectoryObjective {
  public:
    TrajectoryObjective(const PlanConfig& config, const Topography& topography)
        : topography_(topography),
          gossip_(configured_gossip(config, topography.mixing)),
          schedule_(topography.schedule().from(config.steps.first_round)) {
        for (long t = 0; t < config.rounds; ++t)
            steps_.push_back(config.steps.at(t) / config.steps.at(0));
    }
    [[nodiscard]] Eigen::MatrixXd joint() const {
        return changes() ? joint_utility(schedule_, steps_, gossip_.steps())
                         : joint_utility(topography_.mixing, steps_, gossip_);
    }
    [[nodiscard]] Eigen::MatrixXd of_rounds(const Eigen::MatrixXd& covariance) const {
        return changes() ? temporal_utility(schedule_, covariance, steps_, gossip_.steps())
                         : temporal_utility(topography_.mixing, covariance, steps_, gossip_);
    }

  private:
    [[nodiscard]] bool changes() const { return !topography_.later_mixing.empty(); }

    const Topography& topography_;
    GossipPolynomial gossip_;
    MixingSchedule schedule_;
    std::vector<double> steps_;
};

/// Tr(H (X_time^-1 (x) R)) of a plan at its own scale.
double plan_objective(const NoisePlan& plan, const TrajectoryObjective& objective, long rounds) {
    const Eigen::MatrixXd inverse = dense_factor(plan.temporal, rounds)
                                        .triangularView<Eigen::Lower>()
                                        .solve(Eigen::MatrixXd::Identity(rounds, rounds));
    return objective.of_rounds(spatial_covariance(plan))
        .cwiseProduct(inverse * inverse.transpose())
        .sum();
}

CertifiedOptimum optimum_of(const Eigen::MatrixXd& utility,
                            const Eigen::VectorXd& kappa,
                            long cycle,
                            JointOptions::Columns columns) {
    JointOptions options;
    options.columns = columns;
    const JointSolution solution = solve_joint_gram(utility, kappa, cycle, options);
    return {solution.value, solution.lower_bound};
}

}  // namespace

UnrestrictedNoise unrestricted_noise(const PlanConfig& config,
                                     const Topography& topography,
                                     const NoisePlan& plan,
                                     const Eigen::VectorXd& kappa) {
    require_comparable(config, plan);
    require_joint_rows(plan.agents, config.rounds);
    const TrajectoryObjective objective(config, topography);
    const Eigen::MatrixXd utility = objective.joint();
    const double unit = kappa.minCoeff();
    const Eigen::VectorXd limits = kappa / unit;
    UnrestrictedNoise noise;
    noise.plan = unit * plan_objective(plan, objective, config.rounds);
    noise.any = optimum_of(utility, limits, config.participation.cycle, JointOptions::Columns::any);
    noise.equal =
        optimum_of(utility, limits, config.participation.cycle, JointOptions::Columns::equal);
    return noise;
}

std::string text_of(const UnrestrictedNoise& noise) {
    return fmt::format(
        "any C      leaves at least {:.6g} in all models of all rounds (certified to {:.1g}); this "
        "plan leaves {:.6g}, {:.4g} times as much\n           with columns of equal length at "
        "least {:.6g} (certified to {:.1g}); this plan leaves {:.4g} times as much\n",
        noise.any.value,
        noise.any.relative_gap(),
        noise.plan,
        noise.ratio(),
        noise.equal.value,
        noise.equal.relative_gap(),
        noise.ratio_of_equal());
}

}  // namespace sotto
