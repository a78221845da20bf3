#include "commands/audit/audit_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands/audit/attack_run.hpp"
#include "run/run_directory.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/learn/canary.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/views/view_innovations.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr long fewest_trials = 400;  // of one hypothesis: 100 of each sign in each half
constexpr double trials_without_mu = 1e4;
constexpr long most_trials = 200000;         // of all hypotheses, unless the user wants more
constexpr double most_message_values = 4e8;  // of all agents and rounds: 3.2 GB

enum class Pattern { constant, random, worst };
constexpr NameTable<Pattern, 3> patterns{
    {{{Pattern::constant, "constant"}, {Pattern::random, "random"}, {Pattern::worst, "worst"}}}};

constexpr NameTable<Attack, 3> attacks{{{{Attack::likelihood, "likelihood"},
                                         {Attack::reconstruction, "reconstruction"},
                                         {Attack::membership, "membership"}}}};

std::vector<Pattern> parse_hypothesis(const std::string& text) {
    if (text == "all") return {Pattern::constant, Pattern::random, Pattern::worst};
    if (std::ranges::none_of(patterns.names(), [&](const auto& name) { return name == text; })) {
        std::vector<std::string> allowed{"all"};
        for (const auto& name : patterns.names()) allowed.emplace_back(name);
        throw unknown_name_error("--hypothesis", text, allowed);
    }
    return {patterns.parse("--hypothesis", text)};
}

/// Rounds of the participation pattern that starts in round `first`.
VectorXd pattern_from(Index rounds, long cycle, Index first) {
    VectorXd signs = VectorXd::Zero(rounds);
    for (Index t = first; t < rounds; t += cycle) signs(t) = 1;
    return signs;
}

/// s^T Gram s; infinite without a Gram matrix.
double squared(const std::optional<MatrixXd>& gram, const VectorXd& signs) {
    return gram ? signs.dot(*gram * signs) : infinity;
}

VectorXd make_pattern(Pattern pattern,
                      const std::optional<MatrixXd>& gram,
                      Index rounds,
                      const Participation& participation,
                      std::uint64_t seed) {
    const auto cycle = std::min<Index>(participation.cycle, rounds);
    VectorXd best = pattern_from(rounds, cycle, 0);
    if (gram)
        for (Index first = 1; first < cycle; ++first) {
            VectorXd other = pattern_from(rounds, cycle, first);
            if (squared(gram, other) > squared(gram, best)) best = std::move(other);
        }
    if (pattern == Pattern::constant) return best;
    if (pattern == Pattern::worst && gram) return worst_signs(*gram, participation);
    SeededRandom random(seed, "audit hypothesis");
    for (Index t = 0; t < rounds; ++t)
        if (best(t) != 0 && random.below(2) == 0) best(t) = -1;
    return best;
}

/// Nothing where it is infinite, or where noise is Laplace.
std::optional<MatrixXd> gram_of(const MessageProcess& process, const View& view, int target) {
    if (process.plan->distribution() != StreamDistribution::gaussian) return std::nullopt;
    return view_gram(process, view, target);
}

bool same_up_to_sign(const VectorXd& a, const VectorXd& b) { return a == b || a == -b; }

/// The canaries of a run that was made before, and what the accountant says about them.
AuditDesign recorded_design(const AuditConfig& config,
                            const AccountSubject& subject,
                            const MessageProcess& process,
                            const View& view) {
    const std::string file = (std::filesystem::path(*config.run) / "canaries.json").string();
    AuditDesign design = canaries_from_json(read_file(file), file);
    if (design.target >= subject.plan.agents ||
        design.hypotheses.front().signs.size() != process.rounds())
        throw DataError(fmt::format("{}: canaries of another run", file));
    if (config.target && *config.target != design.target)
        throw ConfigError(fmt::format(
            "--target: {} is not possible with --run {}, whose canaries are of agent {}",
            *config.target,
            *config.run,
            design.target));
    if (std::ranges::binary_search(view.members, design.target))
        throw ConfigError(
            fmt::format("--view: {} holds agent {}, whose canaries the run has; name others",
                        config.view,
                        design.target));
    account_for(design, subject, process, view, config.train.threads);
    return design;
}

}  // namespace

Attack parse_attack(std::string_view option, std::string_view text) {
    return attacks.parse(option, text);
}

std::string name_of(Attack attack) { return std::string(attacks.name_of(attack)); }

AuditDesign design_audit(const AuditConfig& config, const AccountSubject& subject) {
    const PlanConfig& plan = config.train.plan;
    const Graph& graph = *subject.process.graph;
    const View view = attacking_view(config, graph);
    const auto wanted = parse_hypothesis(config.hypothesis);
    require_in_range("--width", config.width, 1e-4, 10);
    require_confidence(config);
    const MessageProcess process = attacked_process(config, subject);

    AuditDesign design;
    design.seed = config.train.task.seed;
    std::vector<int> targets = agents_outside(view, graph.agents());
    if (config.target) {
        require_in_range("--target", *config.target, 0, graph.agents() - 1);
        if (std::ranges::binary_search(view.members, *config.target))
            throw ConfigError(
                fmt::format("--target: agent {} is an observer of --view {} and knows its own data",
                            *config.target,
                            config.view));
        targets = {*config.target};
    }
    ViewOptions options;
    options.threads = config.train.threads;
    const auto losses = view_losses(process, subject.use, view, targets, options);
    const auto loss = [&](std::size_t t) {
        const double unit = subject.exposures[static_cast<std::size_t>(targets[t])].sensitivity;
        return unit * std::sqrt(losses[t].certified());
    };
    std::size_t most = 0;
    for (std::size_t t = 1; t < targets.size(); ++t)
        if (loss(t) > loss(most)) most = t;
    design.target = targets[most];
    design.contribution =
        subject.exposures[static_cast<std::size_t>(design.target)].sensitivity / 2;

    const std::optional<MatrixXd> gram = gram_of(process, view, design.target);
    for (const Pattern pattern : wanted) {
        Hypothesis hypothesis;
        hypothesis.name = patterns.name_of(pattern);
        hypothesis.signs = make_pattern(
            pattern, gram, static_cast<Index>(plan.rounds), plan.participation, design.seed);
        if (std::ranges::any_of(design.hypotheses, [&](const Hypothesis& other) {
                return same_up_to_sign(other.signs, hypothesis.signs);
            }))
            continue;
        design.hypotheses.push_back(std::move(hypothesis));
    }
    account_for(design, subject, process, view, config.train.threads);

    // As many trials as the interval needs where it is widest beside mu.
    double each = 0;
    for (const Hypothesis& hypothesis : design.hypotheses)
        each = std::max(each,
                        std::isfinite(hypothesis.mu_theory) && hypothesis.mu_theory > 0
                            ? trials_for_width(hypothesis.mu_theory, config.width, config.level)
                            : trials_without_mu);
    const auto count = static_cast<double>(design.hypotheses.size());
    const double values = static_cast<double>(plan.rounds) * plan.gossip_steps * graph.agents();
    if (config.trials) {
        require_in_range("--trials", static_cast<double>(*config.trials), fewest_trials, 1e7);
        each = static_cast<double>(*config.trials);
    } else {
        each = std::min(each, std::min<double>(most_trials, most_message_values / values) / count);
        each = std::max<double>(each, fewest_trials);
    }
    design.trials = static_cast<long>(each) * static_cast<long>(design.hypotheses.size());
    return design;
}

void account_for(AuditDesign& design,
                 const AccountSubject& subject,
                 const MessageProcess& process,
                 const View& view,
                 int threads) {
    ViewOptions options;
    options.threads = threads;
    const std::vector<int> target{design.target};
    const double unit = subject.exposures[static_cast<std::size_t>(design.target)].sensitivity;
    const auto losses = view_losses(process, subject.use, view, target, options);
    const Guarantee claim =
        guarantee_of(subject.plan, unit * std::sqrt(losses.front().certified()), subject.delta);
    design.claim_mu = claim.mu;
    design.claim_epsilon = claim.epsilon;
    design.argument = argument_of(view, true, subject.plan.distribution()).text;
    const bool gaussian = subject.plan.distribution() == StreamDistribution::gaussian;
    const std::optional<MatrixXd> gram = gram_of(process, view, design.target);
    for (Hypothesis& hypothesis : design.hypotheses) {
        hypothesis.mu_theory =
            gaussian ? unit * std::sqrt(squared(gram, hypothesis.signs)) : std::nan("");
        hypothesis.epsilon_theory =
            gaussian ? gdp_epsilon(hypothesis.mu_theory, subject.delta) : claim.epsilon;
    }
}

std::string canaries_json(const AuditDesign& design) {
    Json json;
    json["format"] = "sotto-canaries";
    json["version"] = 1;
    json["target"] = design.target;
    json["seed"] = design.seed;
    json["trials"] = design.trials;
    json["contribution"] = design.contribution;
    json["hypotheses"] = Json::array();
    for (const Hypothesis& hypothesis : design.hypotheses)
        json["hypotheses"].push_back(
            {{"hypothesis", hypothesis.name},
             {"signs", std::vector<double>(hypothesis.signs.begin(), hypothesis.signs.end())}});
    return json.dump(1) + "\n";
}

AuditDesign canaries_from_json(std::string_view text, const std::string& source) try {
    const Json json = Json::parse(text);
    if (json.at("format") != "sotto-canaries" || json.at("version") != 1)
        throw DataError(fmt::format("{}: not canaries of version 1", source));
    AuditDesign design;
    design.target = json.at("target").get<int>();
    design.seed = json.at("seed").get<std::uint64_t>();
    design.trials = json.at("trials").get<long>();
    design.contribution = json.at("contribution").get<double>();
    for (const auto& entry : json.at("hypotheses")) {
        const auto signs = entry.at("signs").get<std::vector<double>>();
        Hypothesis hypothesis;
        hypothesis.name = entry.at("hypothesis").get<std::string>();
        hypothesis.signs =
            Eigen::Map<const VectorXd>(signs.data(), static_cast<Index>(signs.size()));
        design.hypotheses.push_back(std::move(hypothesis));
    }
    const auto bad = [&](const Hypothesis& hypothesis) {
        return hypothesis.signs.size() != design.hypotheses.front().signs.size() ||
               hypothesis.signs.size() == 0;
    };
    if (design.target < 0 || design.trials < fewest_trials || !(design.contribution > 0) ||
        design.hypotheses.empty() || std::ranges::any_of(design.hypotheses, bad))
        throw DataError(
            fmt::format("{}: target, trials, contribution or signs are out of range", source));
    return design;
} catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: not canaries ({})", source, error.what()));
}

LocalTask make_canary_task(const AuditDesign& design, double divisor, const Network& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        Contributions contributions;
        contributions.signs = design.patterns();
        contributions.values = agent == design.target
                                   ? VectorXd(design.contribution * divisor * design.secret_signs())
                                   : VectorXd::Zero(design.trials);
        task.objectives.push_back(make_canary_objective(std::move(contributions)));
    }
    task.initial = VectorXd::Zero(design.trials);
    task.description =
        fmt::format("audit: {} scalar models, of which agent {} contributes canaries",
                    design.trials,
                    design.target);
    task.statements.push_back(
        "Audit: every coordinate is a model and a trial of its own, clipped by itself; what this "
        "ledger says holds for each coordinate by itself, not for all of them together. The inputs "
        "are canaries, fixed in advance.");
    task.fixed_inputs = true;
    task.rows_are_rounds = true;
    task.coordinates = true;
    return task;
}

AuditResult run_audit(const AuditConfig& config,
                      Network& network,
                      TrainingListener& observer,
                      const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    const auto subject = attacked_subject(config, network);
    MessageProcess process;
    AuditDesign design;
    View view;
    network.agree([&] {
        view = attacking_view(config, subject->built.topography.graph);
        process = attacked_process(config, *subject);
        design = config.run ? recorded_design(config, *subject, process, view)
                            : design_audit(config, *subject);
    });

    AuditResult result;
    std::string folder;
    if (config.run) {
        folder = *config.run;
    } else {
        const bool records = config.train.plan.adjacency != Adjacency::agent;
        const double divisor =
            records ? static_cast<double>(
                          subject->exposures[static_cast<std::size_t>(design.target)].batch_size)
                    : 1.0;
        folder = run_recorded(
            of_fixed_inputs(config.train), view, network, observer, stop_requested, [&] {
                return make_canary_task(design, divisor, network);
            });
    }
    std::string verdict;
    network.agree([&] {
        if (network.process() != 0) return;
        const RunDirectory directory = RunDirectory::existing(folder);
        if (!config.run) directory.write("canaries.json", canaries_json(design));
        result = analyse_recordings(std::filesystem::path(folder) / "views",
                                    process,
                                    view,
                                    design,
                                    subject->delta,
                                    config.level,
                                    config.train.threads);
        result.view = config.view;
        result.run_directory = folder;
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (!config.run) directory.write("audit.json", audit_report_json(result));
        verdict = result.consistent ? "consistent" : "inconsistent";
    });
    if (network.broadcast(verdict) == "inconsistent") result.consistent = false;
    return result;
}

}  // namespace sotto
