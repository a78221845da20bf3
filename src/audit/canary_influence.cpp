#include "audit/canary_influence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "audit/audit_options.hpp"
#include "audit/audit_subject.hpp"
#include "audit/contribution_estimate.hpp"
#include "audit/recorded_messages.hpp"
#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/view_losses.hpp"
#include "training/run_subject.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_fitting(const CanaryContributions& contributions, int agents, long rounds) {
    const Index d = contributions.initial.size();
    for (const auto* const each :
         {&contributions.sent, &contributions.without, &contributions.allowed}) {
        if (std::ssize(*each) != agents)
            throw ConfigError(fmt::format(
                "contributions: those of {} agents, the run has {}", each->size(), agents));
        for (const MatrixXd& of_agent : *each)
            if (of_agent.rows() != d || of_agent.cols() != rounds)
                throw ConfigError(
                    fmt::format("contributions: {} x {} values of an agent, the run has {} "
                                "coordinates and {} rounds",
                                of_agent.rows(),
                                of_agent.cols(),
                                d,
                                rounds));
    }
}

std::vector<int> agents_with_canaries(const View& view, const CanaryContributions& contributions) {
    std::vector<int> targets;
    for (const int u : agents_outside(view, static_cast<int>(contributions.allowed.size())))
        if (!contributions.allowed[static_cast<std::size_t>(u)].isZero(0)) targets.push_back(u);
    if (targets.empty())
        throw ConfigError(
            "canaries: none was drawn with a gradient as long as the clip, so there is nothing to "
            "measure (allowed: more canaries or rounds, a smaller clip, or records with longer "
            "gradients, such as some with wrong labels)");
    return targets;
}

/// The target's guarantee for the training alone, with a sensitivity `factor` times as large.
Guarantee scaled_guarantee(const AccountSubject& account,
                           const View& view,
                           int target,
                           double factor) {
    std::vector<Exposure> exposures = account.exposures;
    exposures[static_cast<std::size_t>(target)].sensitivity *= factor;
    return guarantees(
        account.plan, {view.members}, exposures, account.delta)[static_cast<std::size_t>(target)];
}

/// Adds the accountant's figures.
void add_epsilons(CanaryInfluence& influence, const AccountSubject& account, const View& view) {
    const Guarantee training = scaled_guarantee(account, view, influence.target, 1);
    if (training.infinite())
        throw ConfigError(
            fmt::format("view: mechanism {} does not protect agent {} against it, so epsilon is "
                        "infinite and there is nothing to test (allowed: a view that the mechanism "
                        "withstands)",
                        account.plan.mechanism,
                        influence.target));
    influence.epsilon_theory =
        with_surveys(training, account.surveys, view.members, influence.target).epsilon;
    influence.mu_theory = training.loss.mu().value_or(not_a_number);
    const double least = std::max(0.0, influence.lower);
    influence.mu_lower = least * influence.mu_theory;
    if (least > 0)
        influence.epsilon_lower = scaled_guarantee(account, view, influence.target, least).epsilon;
}

/// @param expected what the canaries may show, modes x d.  @param z of the interval.
CanaryInfluence measure_influence(int target,
                                  const MatrixXd& values,
                                  const MatrixXd& expected,
                                  double z) {
    const double squared = expected.squaredNorm(), count = static_cast<double>(values.size());
    const double amplitude = expected.cwiseProduct(values).sum() / squared;
    CanaryInfluence influence;
    influence.target = target;
    influence.noise_ratio = (values.squaredNorm() - amplitude * amplitude * squared) / (count - 1);
    influence.ratio = amplitude / std::sqrt(influence.noise_ratio);
    const double error =
        z * std::sqrt(1 / squared + influence.ratio * influence.ratio / (2 * count));
    influence.lower = influence.ratio - error;
    influence.upper = influence.ratio + error;
    return influence;
}

void find_faults(const CanaryInfluence& influence,
                 Index values,
                 double risk,
                 std::vector<std::string>& findings) {
    if (influence.lower > 1)
        findings.push_back(fmt::format(
            "agent {}: a canary shows at least {:.4g} times as much as is accounted for: epsilon "
            "of a record is at least {:.4g}, the accountant says {:.4g}",
            influence.target,
            influence.lower,
            influence.epsilon_lower,
            influence.epsilon_theory));
    if (chance_of_smaller_error(influence.noise_ratio, 1, values) < risk)
        findings.push_back(fmt::format(
            "agent {}: the mean square of the noise is {:.4g} of what the plan says, less than "
            "chance allows",
            influence.target,
            influence.noise_ratio));
}

/// What the attacker knows when it asks about the target.
KnownInputs known_inputs(const CanaryContributions& contributions, int target) {
    return {contributions.initial, [&contributions, target](int agent, long round) {
                const auto u = static_cast<std::size_t>(agent);
                const auto& known = agent == target ? contributions.without : contributions.sent;
                return VectorXd(known[u].col(round));
            }};
}

}  // namespace

double CanaryInfluenceResult::width() const {
    double widest = 0;
    for (const CanaryInfluence& influence : targets)
        widest = std::max(widest, (influence.upper - influence.lower) / 2);
    return widest;
}

bool CanaryInfluenceResult::informative() const {
    return width() <= widest_influence &&
           std::ranges::all_of(targets, [](const CanaryInfluence& influence) {
               return influence.upper >= least_influence;
           });
}

nlohmann::ordered_json CanaryInfluenceResult::json() const {
    nlohmann::ordered_json json;
    json["observer"] = view;
    json["rounds"] = rounds;
    json["confidence"] = level;
    json["delta"] = delta;
    json["agents"] = nlohmann::ordered_json::array();
    for (const CanaryInfluence& influence : targets)
        json["agents"].push_back({{"agent", influence.target},
                                  {"epsilon", number_json(influence.epsilon_theory)},
                                  {"epsilon_lower", number_json(influence.epsilon_lower)},
                                  {"mu", number_json(influence.mu_theory)},
                                  {"mu_lower", number_json(influence.mu_lower)},
                                  {"ratio", influence.ratio},
                                  {"ratio_lower", influence.lower},
                                  {"ratio_upper", influence.upper},
                                  {"noise_ratio", influence.noise_ratio}});
    json["width"] = width();
    json["verdict"] = !findings.empty() ? "failed" : informative() ? "passed" : "inconclusive";
    json["findings"] = findings;
    return json;
}

CanaryInfluenceResult analyse_influence(const std::filesystem::path& views,
                                        const MessageProcess& process,
                                        const View& view,
                                        const AccountSubject& account,
                                        const CanaryContributions& contributions,
                                        double level) {
    if (!(level > 0.5 && level < 1))
        throw ConfigError(fmt::format("confidence: {} is not allowed (above 0.5, below 1)", level));
    if (process.plan->distribution() == StreamDistribution::laplace)
        throw ConfigError(
            fmt::format("mechanism: {} has Laplace noise, which this audit does not measure "
                        "(allowed: mechanisms with Gaussian noise)",
                        process.plan->mechanism));
    require_fitting(contributions, process.plan->agents, process.rounds());
    const std::vector<int> targets = agents_with_canaries(view, contributions);
    // Bonferroni: the lower ends and the tests of noise.
    const double risk = (1 - level) / (2 * static_cast<double>(targets.size()));
    const double z = two_sided_z(1 - 2 * risk);
    CanaryInfluenceResult result;
    result.delta = account.delta;
    result.level = level;
    result.rounds = process.rounds();
    std::vector<std::string> leaks;
    for (const int target : targets) {
        const MatrixXd& allowed = contributions.allowed[static_cast<std::size_t>(target)];
        RecordedInnovations recorded(views,
                                     view,
                                     process,
                                     allowed.rows(),
                                     fmt::format("contributions have {}", allowed.rows()),
                                     1,
                                     known_inputs(contributions, target));
        const ContributionModes modes =
            read_contribution_modes(recorded,
                                    target,
                                    process.rounds(),
                                    allowed.rows(),
                                    view.kind == View::Kind::all_messages);
        const MatrixXd expected = (allowed * modes.response).transpose();
        CanaryInfluence& influence =
            result.targets.emplace_back(measure_influence(target, modes.values, expected, z));
        add_epsilons(influence, account, view);
        find_faults(influence, modes.values.size(), risk, result.findings);
        leaks = recorded.leak_findings();
    }
    std::ranges::move(leaks, std::back_inserter(result.findings));
    return result;
}

namespace {

View observer_of(std::string_view view, const Graph& graph) {
    const ViewQuery query = parse_view("view", view, graph);
    const View* const observer = query.one_observer();
    if (observer == nullptr || !query.record->allows(ViewUse::audit))
        throw ConfigError(fmt::format(
            "view: {} is not one observer (allowed: {})", view, view_placeholders(ViewUse::audit)));
    return *observer;
}

/// @throws ConfigError unless the training records what the view sees.
void require_recorded(const TrainConfig& config, std::string_view name, const View& view) {
    std::vector<std::string> wanted;
    for (const int member : view.members) wanted.push_back(std::to_string(member));
    if (view.kind == View::Kind::all_messages) wanted.emplace_back(eavesdropper_view);
    const bool members = std::ranges::all_of(view.members, [&](int member) {
        return std::ranges::find(config.record_views, member) != config.record_views.end();
    });
    if (!members || (view.kind == View::Kind::all_messages && !config.record_wire))
        throw ConfigError(
            fmt::format("record_view: what {} sees is not recorded (allowed: a training with "
                        "record_view=\"{}\")",
                        name,
                        fmt::join(wanted, ",")));
}

}  // namespace

void require_auditable(const TrainConfig& config, std::string_view view, const Graph& graph) {
    const PlanConfig& plan = config.plan;
    const auto refuse = [](const char* option, const auto& value, const char* allowed) {
        throw ConfigError(
            fmt::format("{}: {} cannot be audited (allowed: {})", option, value, allowed));
    };
    if (config.l2 != 0) refuse("l2", config.l2, "0, without weight_decay");
    if (plan.local_steps > 1) refuse("local_steps", plan.local_steps, "1");
    if (config.secure_sum) refuse("secure_sum", "on", "off; the guarantee is the same");
    if (config.pad_rounds) refuse("pad_rounds", "on", "off");
    if (protects_agents(plan.adjacency))
        refuse("adjacency",
               name_of(plan.adjacency),
               "record-add-remove, record-zero-out, record: a canary is a record");
    require_recorded(config, view, observer_of(view, graph));
}

CanaryInfluenceResult audit_canaries(const std::filesystem::path& directory,
                                     std::string_view view,
                                     const CanaryContributions& contributions,
                                     double level) {
    const RecordedRun run =
        read_recorded_run(directory, train_config_of_run("run", directory.string()));
    const Graph& graph = run.built.topography.graph;
    require_auditable(run.config, view, graph);
    const std::unique_ptr<AccountSubject> account = account_subject_of(run);
    CanaryInfluenceResult result = analyse_influence(directory / "views",
                                                     attacked_process(run.config, *account),
                                                     observer_of(view, graph),
                                                     *account,
                                                     contributions,
                                                     level);
    result.view = view;
    return result;
}

}  // namespace sotto
