#include "sotto/privacy/privacy_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "plan/lagged_noise.hpp"
#include "privacy/message_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

namespace {

/// For every t, sum of |X_st| over earlier rounds s of its pattern, X = C_time^T C_time.
Eigen::VectorXd earlier_of_pattern(const TemporalFactor& factor,
                                   const Eigen::VectorXd& precisions,
                                   long cycle) {
    const Eigen::Index rounds = precisions.size();
    const Eigen::MatrixXd& lower = factor.lower;
    Eigen::VectorXd earlier = Eigen::VectorXd::Zero(rounds);
    if (factor.kind == TemporalFactor::Kind::banded) {
        // X_st sums over the rows r >= t that both columns reach.
        const Eigen::Index width = lower.cols();
        for (Eigen::Index t = 0; t < rounds; ++t)
            for (Eigen::Index lag = cycle; lag < width && lag <= t; lag += cycle) {
                double sum = 0;
                for (Eigen::Index b = 0; b + lag < width && t + b < rounds; ++b)
                    sum += lower(t + b, b) * lower(t + b, b + lag);
                earlier(t) += std::abs(sum);
            }
        return earlier;
    }
    // One lag: from row t on, column s of C_time is that of t times the product in between.
    for (Eigen::Index t = cycle; t < rounds; ++t) {
        double between = lower(t, 0) / lower(t - cycle, 0);
        for (Eigen::Index r = t; r > t - cycle; --r) between *= std::abs(lower(r, 1) / lower(r, 0));
        earlier(t) =
            between * (precisions(t) + earlier(t - cycle) * precisions(t) / precisions(t - cycle));
    }
    return earlier;
}

/// Number of rows below round s that its column of C_time reaches, within `rounds`.
long column_reach(const TemporalFactor& factor, long s, long rounds) {
    const Eigen::MatrixXd& lower = factor.lower;
    if (factor.kind == TemporalFactor::Kind::one_lag) {
        long reach = 0;
        while (s + reach + 1 < rounds && lower(s + reach + 1, 1) != 0) ++reach;
        return reach;
    }
    const bool banded = factor.kind == TemporalFactor::Kind::banded;
    long reach = banded ? std::min<long>(lower.cols(), rounds - s) - 1 : rounds - 1 - s;
    while (reach > 0 && (banded ? lower(s + reach, reach) : lower(s + reach, s)) == 0) --reach;
    return reach;
}

/// Whether rounds count one by one, each with noise of its own.
bool levels_differ(const TemporalFactor& factor, const Participation& participation) {
    constexpr double rounding = 1e-9;
    return is_diagonal(factor) && participation.cycle == 1 && !participation.is_allocated() &&
           factor.lower.maxCoeff() > factor.lower.minCoeff() * (1 + rounding);
}

}  // namespace

std::vector<RoundLevel> round_levels(const TemporalFactor& factor,
                                     const Participation& participation,
                                     long rounds) {
    if (!levels_differ(factor, participation)) return {};
    std::map<double, long, std::greater<>> counts;
    for (const double precision : round_precisions(factor, rounds)) ++counts[precision];
    std::vector<RoundLevel> levels;
    for (const auto& [precision, count] : counts) levels.push_back({precision, count});
    return levels;
}

void require_separate_rounds(const TemporalFactor& factor,
                             const Participation& participation,
                             long rounds) {
    if (!participation.is_secret() || factor.kind == TemporalFactor::Kind::identity) return;
    if (participation.poisson && levels_differ(factor, participation)) {
        const auto sizes = std::ssize(round_levels(factor, participation, rounds));
        if (sizes > most_round_levels)
            throw ConfigError(fmt::format(
                "participation: {} is not possible with noise of {} sizes, which are accounted one "
                "by one (allowed: a plan with at most {}, as --noise-schedule makes)",
                name_of(participation),
                sizes,
                most_round_levels));
        return;
    }
    constexpr double longest_column = 1 + 1e-9;  // squared; 1 up to rounding
    const Eigen::VectorXd precisions = round_precisions(factor, rounds);
    for (long s = 0; s < rounds; ++s) {
        const long reach = column_reach(factor, s, rounds);
        if (reach >= participation.cycle)
            throw ConfigError(fmt::format(
                "participation: {} is not possible with noise of which round {} shares some with "
                "round {}, since nothing is proved for sampled rounds of one record that share "
                "noise (allowed: cyclic-poisson:b with --temporal banded:B and B below b, or "
                "--temporal-restart b, or independent rounds)",
                name_of(participation),
                s,
                s + reach));
        if (!(precisions(s) <= longest_column))
            throw ConfigError(fmt::format(
                "participation: {} is not possible with a temporal factor whose column {} has the "
                "squared length {:.6g}, which would count more than one round (allowed: columns of "
                "length 1, as those of mafalda and space-time with --temporal banded:B; not "
                "one-lag)",
                name_of(participation),
                s,
                precisions(s)));
    }
}

namespace {

/// Of the pattern of the first of these rounds. An epoch that begins counts whole.
long rounds_that_count(long rounds, const Participation& participation) {
    const long cycle = participation.cycle, epoch = participation.rounds_an_epoch;
    const long taken = (rounds + cycle - 1) / cycle;
    return (taken + epoch - 1) / epoch * epoch;
}

}  // namespace

double temporal_sensitivity_squared(const TemporalFactor& factor,
                                    const Participation& participation,
                                    long rounds) {
    if (factor.kind == TemporalFactor::Kind::identity)
        return static_cast<double>(rounds_that_count(rounds, participation));
    return rounds == 0 ? 0
                       : pattern_sensitivities_squared(factor, participation, rounds).maxCoeff();
}

Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                              const Participation& participation,
                                              long rounds) {
    const long cycle = participation.cycle;
    const long patterns = std::min(cycle, rounds);
    const auto length = [&](long pattern) {
        return rounds_that_count(rounds - pattern, participation);
    };
    Eigen::VectorXd result(patterns);
    if (factor.kind == TemporalFactor::Kind::identity) {
        for (long j = 0; j < patterns; ++j) result(j) = static_cast<double>(length(j));
        return result;
    }
    if (participation.poisson && !levels_differ(factor, participation)) {
        require_separate_rounds(factor, participation, rounds);
        const double longest = std::max(1.0, round_precisions(factor, rounds).maxCoeff());
        for (long j = 0; j < patterns; ++j) result(j) = longest * static_cast<double>(length(j));
        return result;
    }
    if (factor.kind != TemporalFactor::Kind::dense) {
        const Eigen::VectorXd precisions = round_precisions(factor, rounds);
        const Eigen::VectorXd terms =
            precisions + 2 * earlier_of_pattern(factor, precisions, cycle);
        for (long j = 0; j < patterns; ++j)
            result(j) = terms(Eigen::seqN(j, length(j), cycle)).sum();
        return result;
    }
    const Eigen::MatrixXd lower = dense_factor(factor, rounds);
    for (long j = 0; j < patterns; ++j) {
        // Only rounds of one pattern interact.
        const Eigen::MatrixXd pattern = lower(Eigen::all, Eigen::seqN(j, length(j), cycle));
        result(j) = (pattern.transpose() * pattern).cwiseAbs().sum();
    }
    return result;
}

double largest_round_shift(const TemporalFactor& factor,
                           const Participation& participation,
                           long rounds) {
    if (rounds == 0) return 0;
    if (factor.kind == TemporalFactor::Kind::identity) return 1;
    (void)round_precisions(factor, rounds);  // throws if the factor covers fewer rounds
    const long cycle = participation.cycle;
    const Eigen::MatrixXd lower = factor.lower.cwiseAbs();
    double largest = 0;
    for (long j = 0; j < std::min(cycle, rounds); ++j) {
        double carried = 0;  // of the previous round; one lag only
        for (long s = 0; s < rounds; ++s) {
            double shift = 0;
            if (factor.kind == TemporalFactor::Kind::dense)
                for (long t = j; t <= s; t += cycle) shift += lower(s, t);
            else if (factor.kind == TemporalFactor::Kind::banded)
                for (long b = 0; b < lower.cols() && b <= s; ++b)
                    shift += (s - b) % cycle == j ? lower(s, b) : 0;
            else
                shift = ((s % cycle == j ? 1.0 : 0.0) + lower(s, 1) * carried) / lower(s, 0);
            carried = shift;
            largest = std::max(largest, shift);
        }
    }
    return largest;
}

namespace {

/// lambda_u of every agent (privacy_record.hpp).
/// @throws where no bound is known.
Eigen::VectorXd carried_on(const NoisePlan& plan, const PlanUse& use) {
    if (plan.temporal.kind != TemporalFactor::Kind::identity)
        refuse_noise(
            "is correlated over rounds and depends on the receiver, enters the message or is "
            "Laplace");
    if (use.gossip_steps != 1)
        throw ConfigError(
            fmt::format("gossip-steps: {} is not possible with mechanism {}, whose noise is on the "
                        "messages of a round's first step (allowed: 1)",
                        use.gossip_steps,
                        plan.mechanism));
    const Eigen::VectorXd beta = own_copy_weight(plan);
    if (plan.same_message_to_all()) return Eigen::VectorXd::Zero(plan.agents);
    if (use.own_weights.size() != plan.agents)
        throw Error(
            ExitCode::other,
            fmt::format("{} own weights of {} agents", use.own_weights.size(), plan.agents));
    Eigen::VectorXd lambda(plan.agents);
    for (int u = 0; u < plan.agents; ++u)
        // Rounded so that doubly stochastic weights are equal.
        lambda(u) = std::abs(std::round(use.own_weights(u) * (1 - beta(u)) * 0x1p40) * 0x1p-40);
    return lambda;
}

/// Calls show(e_t) for the phase's rounds of pattern p, p + cycle, ... of the run.
template <class Show>
void pile_up(const NoisePlan& plan,
             const PlanUse& use,
             long rounds,
             double lambda,
             long pattern,
             Show&& show) {
    const long first = use.steps.first_round;
    double moved = 0;
    for (long t = -first; t < rounds; ++t) {
        const double step = use.steps.at(t);
        moved *= lambda;
        if ((t + first) % use.participation.cycle == pattern) moved += step;
        if (t >= 0) show(plan.entry == NoiseEntry::gradient ? moved / step : moved);
    }
}

/// Their composition.
double piled_up(
    const NoisePlan& plan, const PlanUse& use, long rounds, double lambda, long pattern) {
    const StreamDistribution noise = plan.distribution();
    PrivacyLoss of_unit_noise;
    pile_up(plan, use, rounds, lambda, pattern, [&](double seen) {
        of_unit_noise += loss_of_distance(noise, seen);
    });
    return largest_squared_distance(noise, of_unit_noise);
}

bool on_gradients(const NoisePlan& plan) {
    return is_spatial(plan) && plan.entry == NoiseEntry::gradient;
}

long run_patterns(const PlanUse& use, long rounds) {
    return std::min(use.participation.cycle, use.steps.first_round + rounds);
}

}  // namespace

Eigen::VectorXd run_sensitivity_squared(const NoisePlan& plan, const PlanUse& use, long rounds) {
    if (rounds == 0) return Eigen::VectorXd::Zero(plan.agents);
    if (on_gradients(plan))
        return Eigen::VectorXd::Constant(
            plan.agents, temporal_sensitivity_squared(plan.temporal, use.participation, rounds));
    const Eigen::VectorXd lambda = carried_on(plan, use);
    Eigen::VectorXd result(plan.agents);
    std::map<double, double> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), 0.0);
        if (fresh)
            for (long p = 0; p < run_patterns(use, rounds); ++p)
                entry->second = std::max(entry->second, piled_up(plan, use, rounds, lambda(u), p));
        result(u) = entry->second;
    }
    return result;
}

Eigen::MatrixXd pattern_sensitivity_squared(const NoisePlan& plan,
                                            const PlanUse& use,
                                            long rounds) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(plan.agents, run_patterns(use, rounds));
    if (rounds == 0) return result;
    if (on_gradients(plan)) {
        const Eigen::VectorXd here =
            pattern_sensitivities_squared(plan.temporal, use.participation, rounds);
        for (Eigen::Index j = 0; j < here.size(); ++j)
            result.col((use.steps.first_round + j) % use.participation.cycle).setConstant(here(j));
        return result;
    }
    const Eigen::VectorXd lambda = carried_on(plan, use);
    std::map<double, int> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), u);
        for (Eigen::Index p = 0; p < result.cols(); ++p)
            result(u, p) = fresh ? piled_up(plan, use, rounds, lambda(u), static_cast<long>(p))
                                 : result(entry->second, p);
    }
    return result;
}

Eigen::VectorXd largest_round_shifts(const NoisePlan& plan, const PlanUse& use, long rounds) {
    if (on_gradients(plan))
        return Eigen::VectorXd::Constant(
            plan.agents, largest_round_shift(plan.temporal, use.participation, rounds));
    const Eigen::VectorXd lambda = carried_on(plan, use);
    Eigen::VectorXd result = Eigen::VectorXd::Zero(plan.agents);
    std::map<double, int> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), u);
        for (long p = 0; fresh && p < run_patterns(use, rounds); ++p)
            pile_up(plan, use, rounds, lambda(u), p, [&](double seen) {
                result(u) = std::max(result(u), seen);
            });
        result(u) = result(entry->second);
    }
    return result;
}

Eigen::VectorXd largest_message_variance(const NoisePlan& plan) {
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
    const double unit = unit_variance(plan.distribution());
    for (const auto& row : plan.rows) {
        double squares = 0;
        for (const double coefficient : row.coefficients) squares += coefficient * coefficient;
        largest(row.sender) =
            std::max(largest(row.sender), unit * plan.scale * plan.scale * squares);
    }
    return largest;
}

namespace {

constexpr std::size_t most_named = 8;

std::string named(std::span<const int> agents) {
    const auto shown = agents.first(std::min(agents.size(), most_named));
    return fmt::format("agent{} {}{}",
                       agents.size() == 1 ? "" : "s",
                       fmt::join(shown, ", "),
                       shown.size() < agents.size() ? ", ..." : "");
}

std::string colluders(int number) {
    return fmt::format("{} colluder{}", number, number == 1 ? "" : "s");
}

/// "agents 0, 2 have the message of agent 1"
std::string example_of(const SumExample& example) {
    return fmt::format("{} {} the message{} of {}",
                       named(example.colluders),
                       example.colluders.size() == 1 ? "has" : "have",
                       example.exposed.size() == 1 ? "" : "s",
                       named(example.exposed));
}

std::string counts_of(const SumsAgainst& against, const SumHiding& hiding) {
    const std::vector<int> exposed = against.exposed_in(1);
    std::string text = fmt::format("{} ({} of {}) can lose their message this way",
                                   named(exposed),
                                   exposed.size(),
                                   hiding.agents);
    if (hiding.rounds > 1)
        text += fmt::format(" in some of {} rounds, {} in every one",
                            hiding.rounds,
                            against.exposed_in(hiding.rounds).size());
    return text;
}

std::string line_about(const SumsAgainst& against, const SumHiding& hiding) {
    const std::string who = "Secure sums, " + colluders(against.colluders);
    if (!against.computed) return who + " or more: not computed.";
    if (against.worst)
        return fmt::format(
            "{}: {}; {}.", who, example_of(*against.worst), counts_of(against, hiding));
    return fmt::format("{}: nobody's message is learnt; at least {:.0f}% of each stays hidden{}.",
                       who,
                       std::floor(100 * against.least_hidden),
                       against.smallest_sum
                           ? fmt::format(", in sums of {} or more messages", *against.smallest_sum)
                           : std::string());
}

}  // namespace

std::vector<int> SumsAgainst::exposed_in(long rounds) const {
    std::vector<int> agents;
    for (std::size_t u = 0; u < rounds_exposed.size(); ++u)
        if (rounds_exposed[u] >= rounds) agents.push_back(static_cast<int>(u));
    return agents;
}

bool SumHiding::nothing() const {
    return std::ranges::any_of(against, [&](const SumsAgainst& one) {
        return one.colluders <= asked && one.computed && one.worst &&
               std::ssize(one.exposed_in(rounds)) == agents;
    });
}

SumHiding renumbered(SumHiding hiding, std::span<const int> numbers, int all) {
    const auto rename = [&](std::vector<int>& agents) {
        for (int& agent : agents) agent = numbers[static_cast<std::size_t>(agent)];
    };
    const auto rename_example = [&](std::optional<SumExample>& example) {
        if (!example) return;
        rename(example->colluders);
        rename(example->exposed);
    };
    for (SumsAgainst& against : hiding.against) {
        rename_example(against.worst);
        std::vector<long> rounds(against.computed ? static_cast<std::size_t>(all) : 0, 0);
        for (std::size_t u = 0; u < against.rounds_exposed.size(); ++u)
            rounds[static_cast<std::size_t>(numbers[u])] = against.rounds_exposed[u];
        against.rounds_exposed = std::move(rounds);
    }
    rename_example(hiding.known);
    return hiding;
}

std::vector<std::string> statements_of(const SumHiding& hiding) {
    std::vector<std::string> lines{
        "Secure sums: an agent learns only the weighted sum of its neighbours' messages; the "
        "guarantee does not count on it."};
    for (const SumsAgainst& against : hiding.against) {
        lines.push_back(line_about(against, hiding));
        const bool all = std::ssize(against.exposed_in(hiding.rounds)) == hiding.agents;
        if (!against.computed || all) break;
    }
    if (hiding.known)
        lines.push_back(fmt::format("Secure sums, {}: {}.",
                                    colluders(static_cast<int>(hiding.known->colluders.size())),
                                    example_of(*hiding.known)));
    return lines;
}

void require_hiding(const SumHiding& hiding) {
    if (!hiding.nothing()) return;
    const auto found = std::ranges::find_if(
        hiding.against, [](const SumsAgainst& against) { return against.worst.has_value(); });
    throw ConfigError(
        fmt::format("secure-sum: on hides nothing on this graph and schedule: it must withstand "
                    "{}, and in every round each of the {} agents' messages is learnt by {} ({}); "
                    "use a denser --topology, another --mixing-schedule{}, or --secure-sum off",
                    colluders(hiding.asked),
                    hiding.agents,
                    hiding.asked == 1 ? "another" : "as many others",
                    example_of(*found->worst),
                    hiding.asked == 1 ? "" : ", a smaller --coalition-size"));
}

namespace {

bool all_share_a_seed(const NoisePlan& plan) {
    return plan.agents > 1 && std::ranges::any_of(plan.groups, [&](const SeedGroup& group) {
               return static_cast<int>(group.members.size()) == plan.agents;
           });
}

/// Statements about gaps in the noise's protection.
std::vector<std::string> statements_about(const NoisePlan& plan) {
    if (plan.noiseless())
        return {
            "No noise is added: every message reveals a clipped gradient. Epsilon is infinite."};
    if (plan.aggregation == Aggregation::trusted_mean)
        return {
            "Trusted aggregator: agent 0 sees every message and adds the noise; only the mean it "
            "returns is protected."};
    std::vector<std::string> lines;
    if (!models_follow_from_messages(plan))
        lines.emplace_back(
            "Models are not covered: noise cancels in the mean over agents, and an agent's own "
            "copy carries other noise than its messages; the guarantee is about messages, not "
            "about any agent's model, their mean, or a figure computed from them. Models in the "
            "run "
            "directory are as secret as the data.");
    if (plan.distribution() == StreamDistribution::laplace)
        lines.emplace_back(
            "Laplace noise: epsilon is pure (delta 0, but for the tails of drawn noise), for "
            "gradients clipped in L1 norm.");
    if (all_share_a_seed(plan))
        lines.emplace_back(
            "All agents share one seed: any agent can compute all noise. Protected against "
            "outsiders who see every message, not against agents.");
    return lines;
}

std::string statement_about_surveys(const PrivacyRecord& record) {
    std::set<std::string_view> measured;
    long rounds = 0;
    for (const PrivacyPhase& phase : record.past()) {
        if (phase.survey == nullptr) continue;
        ++rounds;
        measured.insert(phase.survey->measures);
    }
    if (rounds == 0) return {};
    return fmt::format(
        "Before the training, agents measured {} together, in {} round{} with noise of their own. "
        "What these rounds reveal is counted in every figure.",
        fmt::join(measured, " and "),
        rounds,
        rounds == 1 ? "" : "s");
}

std::string statement_about_phases(const PrivacyRecord& record) {
    long repeated = -record.now().use.steps.first_round, phases = 1;
    for (const PrivacyPhase& phase : record.past()) {
        if (phase.survey != nullptr) continue;
        repeated += phase.rounds;
        ++phases;
    }
    if (phases == 1) return {};
    const bool one = repeated == 1;
    return fmt::format(
        "The run was resumed: {} phases with noise of their own, whose losses add up{}.",
        phases,
        repeated == 0 ? ""
                      : fmt::format("; {} round{} whose messages may have left before a failure "
                                    "count{} in addition to those that repeat them",
                                    repeated,
                                    one ? "" : "s",
                                    one ? "s" : ""));
}

}  // namespace

PrivacyPhase first_phase(NoisePlan plan,
                         std::span<const Exposure> exposures,
                         PlanUse use,
                         long rounds) {
    PrivacyPhase phase;
    phase.members = Membership::everybody(plan.agents);
    phase.plan = std::move(plan);
    for (const Exposure& exposure : exposures) {
        phase.sensitivity.push_back(exposure.sensitivity);
        phase.sampling_probability.push_back(exposure.sampling_probability);
    }
    phase.use = std::move(use);
    phase.rounds = rounds;
    return phase;
}

bool models_follow_from_messages(const NoisePlan& plan) {
    return plan.aggregation == Aggregation::trusted_mean || plan.same_message_to_all();
}

std::vector<std::string> statements_of(const PrivacyRecord& record) {
    std::vector<std::string> lines = statements_about(record.now().plan);
    for (std::string line : {statement_about_surveys(record), statement_about_phases(record)})
        if (!line.empty()) lines.push_back(std::move(line));
    if (record.unit_agents > 1)
        lines.push_back(
            fmt::format("The headline is for persons with records at up to {} agents. Figures of "
                        "single agents, "
                        "and those of other observers, are for persons at one.",
                        record.unit_agents));
    if (record.reproducible_noise)
        lines.emplace_back(
            "INSECURE: noise derives from --noise-seed; whoever knows or guesses it can remove all "
            "noise.");
    if (record.now().use.participation.is_secret() && protects_agents(record.adjacency))
        lines.emplace_back(
            "Agents are sampled in secret: the guarantee holds while only the trusted aggregator "
            "and the agent itself know in which rounds it takes part. Whoever can time its rounds "
            "learns that.");
    else if (record.now().use.participation.is_secret())
        lines.emplace_back(
            "Batches are sampled in secret: the guarantee holds while only the agent itself knows "
            "which of its records are in a batch. Whoever can time its rounds learns about the "
            "sizes of its batches.");
    if (record.authentication == "unauthenticated")
        lines.emplace_back(
            "Peers are unauthenticated: whoever can change messages between them can take an "
            "agent's place, and learn every seed of its groups.");
    lines.emplace_back(
        "Losses, accuracies and the optimality gap are computed from raw data for the "
        "experimenter; they are not private outputs.");
    lines.emplace_back(
        "Other runs on the same data, such as those that choose a step size or any other option, "
        "are "
        "not counted here: what they reveal adds up (`sotto ledger`).");
    if (!protects_agents(record.adjacency) && !record.now().use.participation.is_secret())
        lines.emplace_back(
            "The budget covers one record; no amplification by subsampling is claimed.");
    if (record.secure_sums)
        std::ranges::move(statements_of(*record.secure_sums), std::back_inserter(lines));
    lines.insert(lines.end(), record.more_statements.begin(), record.more_statements.end());
    return lines;
}

}  // namespace sotto
