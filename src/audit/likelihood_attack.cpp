#include "audit/likelihood_attack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "agent/round_faults.hpp"
#include "audit/audit_job.hpp"
#include "audit/canaries.hpp"
#include "audit/recorded_messages.hpp"
#include "audit/recorded_steps.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

namespace {

/// The canaries of an earlier run, with the accountant's figures.
AuditDesign recorded_design(const AuditConfig& config, const AuditSubject& subject) {
    const std::string file = (std::filesystem::path(*config.run) / "canaries.json").string();
    AuditDesign design = canaries_from_json(read_file(file), file);
    design.unit_agents = config.train.plan.unit_agents;
    if (design.targets.back() >= subject.topography.graph.agents() ||
        std::ssize(design.targets) > design.unit_agents ||
        design.hypotheses.front().signs.size() != subject.process.rounds())
        throw DataError(fmt::format("{}: canaries of another run", file));
    if (!config.targets.empty() && config.targets != design.targets)
        throw ConfigError(
            fmt::format("--targets: {} is not possible with --run {}, whose canaries are of {}",
                        fmt::join(config.targets, ","),
                        *config.run,
                        design.whom()));
    for (const int target : design.targets)
        if (subject.view.has_member(target))
            throw ConfigError(
                fmt::format("--view: {} holds agent {}, whose canaries the run has; name others",
                            config.view,
                            target));
    return accounted(std::move(design), subject, config.train.threads);
}

class LikelihoodAttack final : public Attack {
  public:
    LikelihoodAttack(AuditConfig config, AuditSubject subject, AuditDesign design)
        : Attack(std::move(config), std::move(subject)), design_(std::move(design)) {}

    std::function<LocalTask()> inputs(const Control& network) const override {
        return [this, &network] { return make_canary_task(design_, divisor(), network); };
    }
    void write_inputs(const RunDirectory& directory) const override {
        directory.write("canaries.json", canaries_json(design_));
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path& folder) const override {
        return std::make_unique<LikelihoodResult>(analyse_likelihood(folder / "views",
                                                                     subject().process,
                                                                     subject().view,
                                                                     design_,
                                                                     subject().account->delta,
                                                                     config().level,
                                                                     config().train.threads,
                                                                     config().train.records_steps(),
                                                                     audited_choice()));
    }

  private:
    [[nodiscard]] std::optional<AuditedChoice> audited_choice() const {
        if (!config().private_choice) return std::nullopt;
        return AuditedChoice{choice_count(config()), drawn_counts(config())};
    }
    /// One record of a target is this part of a contribution.
    [[nodiscard]] double divisor() const {
        if (protects_agents(config().train.plan.adjacency)) return 1;
        const auto target = static_cast<std::size_t>(design_.targets.front());
        return static_cast<double>(subject().account->exposures[target].batch_size);
    }

    AuditDesign design_;
};

/// @throws ConfigError where the messages of a run that records steps cannot be analysed.
void require_known_steps(const AuditConfig& config, const AuditSubject& subject) {
    if (!config.train.records_steps()) return;
    if (subject.view.kind != View::Kind::all_messages)
        throw ConfigError(fmt::format(
            "--view: {} is not possible where messages may be missing, or lies, so that no fixed "
            "matrix mixes them (allowed: eavesdropper, all-messages:a,b,...)",
            config.view));
    for (const int liar : config.train.faults.liars())
        if (!subject.view.has_member(liar))
            throw ConfigError(fmt::format(
                "--faults: agent {} is to lie (allowed in an audit: agents of --view, such as "
                "--view all-messages:{}, since an audit compares what all others send)",
                liar,
                fmt::join(config.train.faults.liars(), ",")));
    const NoisePlan& plan = *subject.process.plan;
    if (config.train.plan.momentum > 0 || plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.distribution() != StreamDistribution::gaussian || plan.entry != NoiseEntry::gradient)
        throw ConfigError(
            "--faults, --round-deadline, --robust: an audit of such a run needs Gaussian noise on "
            "gradients that is independent over rounds, and --momentum 0 (leave them out, or "
            "choose another --mechanism)");
}

std::unique_ptr<Attack> start_likelihood_attack(AuditConfig config,
                                                AuditSubject subject,
                                                Control& network) {
    AuditDesign design;
    network.agree([&] {
        require_known_steps(config, subject);
        design = config.run ? recorded_design(config, subject) : design_audit(config, subject);
    });
    return std::make_unique<LikelihoodAttack>(
        std::move(config), std::move(subject), std::move(design));
}

}  // namespace

AttackRecord likelihood_attack() {
    return {
        .name = "likelihood",
        .help = "which of two contributions an agent made",
        .fixed_inputs = true,
        .sampled = false,
        .of_steps = true,
        .options = {"targets", "hypothesis", "trials", "width", "private-choice", "choice-shape"},
        .defaults = {{"rounds", "20"}},
        .start = start_likelihood_attack};
}

namespace {

constexpr std::string_view poison = "poison:";

std::unique_ptr<Attack> start_poison_attack(AuditConfig config,
                                            AuditSubject subject,
                                            Control& network) {
    network.agree([&] {
        if (subject.view.members.empty())
            throw ConfigError(
                fmt::format("--view: {} names no agents, which would lie (allowed: "
                            "all-messages:a,b,...)",
                            config.view));
        if (config.run) return;  // whose members may be others: config.ini has the run's liars
        const LieKind kind = lie_kinds.parse("--attack", config.attack.substr(poison.size()));
        std::vector<Lie>& lies = config.train.faults.lies;
        const Lie wanted{kind, subject.view.members, usual_strength(kind)};
        if (!lies.empty() && lies != std::vector{wanted})
            throw ConfigError(
                fmt::format("--faults: {} has no meaning with --attack {}, whose "
                            "liars are the agents of --view (leave lie out)",
                            name_of(config.train.faults),
                            config.attack));
        lies = {wanted};
    });
    return start_likelihood_attack(std::move(config), std::move(subject), network);
}

}  // namespace

std::vector<AttackRecord> poison_attacks() {
    std::vector<AttackRecord> records;
    for (const auto& [kind, name] : lie_kinds.entries) {
        AttackRecord record = likelihood_attack();
        record.name = std::string(poison) + std::string(name);
        record.help = "the same, while the agents of --view lie to others";
        record.defaults.emplace_back("view", "all-messages:0");
        record.start = start_poison_attack;
        records.push_back(std::move(record));
    }
    return records;
}

namespace {

using Json = nlohmann::ordered_json;

/// Signs as text, one character a round.
std::string text_of(const Eigen::VectorXd& signs) {
    std::string text;
    for (const double sign : signs) text += sign > 0 ? '+' : sign < 0 ? '-' : '0';
    return text;
}

std::string or_infinite(double value) { return number_text(value, 4); }

Json figures_json(const Hypothesis& hypothesis, const AttackFigures& figures) {
    const bool gaussian = !std::isnan(hypothesis.mu_theory);
    Json json;
    json["mu_theory"] = number_json(hypothesis.mu_theory);
    json["mu_empirical"] = gaussian ? number_json(figures.mu) : Json();
    json["mu_lower"] = gaussian ? number_json(figures.lower) : Json();
    json["mu_upper"] = gaussian ? number_json(figures.upper) : Json();
    json["trials"] = figures.trials;
    json["epsilon_theory"] = number_json(hypothesis.epsilon_theory);
    json["epsilon_lower"] = number_json(figures.epsilon_lower);
    return json;
}

Json hypothesis_json(const Hypothesis& hypothesis, const HypothesisVerdict& verdict) {
    Json json;
    json["hypothesis"] = hypothesis.name;
    json["signs"] = text_of(hypothesis.signs);
    if (hypothesis.sides.size() > 1) json["sides"] = text_of(hypothesis.sides);
    json.update(figures_json(hypothesis, verdict.figures));
    json["exceeds"] = verdict.exceeds();
    return json;
}

Json whiteness_json(const WhitenessFigures& whiteness) {
    return {{"values", whiteness.dimensions},
            {"samples", whiteness.samples},
            {"variance", whiteness.variance},
            {"largest_correlation", whiteness.largest_correlation},
            {"p_value", whiteness.p_value}};
}

std::string hypothesis_line(const Hypothesis& hypothesis, const HypothesisVerdict& verdict) {
    const AttackFigures& figures = verdict.figures;
    const bool gaussian = !std::isnan(hypothesis.mu_theory);
    return fmt::format(
        "  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}{}\n",
        hypothesis.name,
        figures.trials,
        or_infinite(hypothesis.mu_theory),
        gaussian ? or_infinite(figures.mu) : "-",
        gaussian ? fmt::format("{} to {}", or_infinite(figures.lower), or_infinite(figures.upper))
                 : "-",
        or_infinite(hypothesis.epsilon_theory),
        or_infinite(figures.epsilon_lower),
        verdict.exceeds() ? "  EXCEEDS" : "");
}

}  // namespace

std::size_t LikelihoodResult::strongest() const {
    const auto best = std::ranges::max_element(design.hypotheses, {}, &Hypothesis::epsilon_theory);
    return static_cast<std::size_t>(best - design.hypotheses.begin());
}

Json LikelihoodResult::json() const {
    const Hypothesis& strong = design.hypotheses[strongest()];
    Json json = run_json(*this);
    json["view"] = view;
    if (design.targets.size() == 1)
        json["target"] = design.targets.front();
    else
        json["person"] = design.targets;
    if (design.unit_agents > 1) json["unit_agents"] = design.unit_agents;
    json.update(figures_json(strong, verdicts[strongest()].figures));
    json["infinite"] = std::isinf(strong.epsilon_theory);
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    json["hypothesis"] = strong.name;
    json["hypotheses"] = Json::array();
    for (std::size_t h = 0; h < verdicts.size(); ++h) {
        json["hypotheses"].push_back(hypothesis_json(design.hypotheses[h], verdicts[h]));
        if (h < mu_of_run.size())
            json["hypotheses"].back()["mu_of_run"] = number_json(mu_of_run[h]);
    }
    if (!mu_of_run.empty()) json["messages_missed"] = messages_missed;
    json["claim"] = {{"mu", number_json(design.claim_mu)},
                     {"epsilon", number_json(design.claim_epsilon)},
                     {"argument", design.argument}};
    json["noise_as_accounted"] = noise_as_accounted;
    if (whiteness) json["whiteness"] = whiteness_json(*whiteness);
    if (mask_pairs > 0) json["mask_pairs"] = mask_pairs;
    if (choice) json["choice"] = choice_figures_json(*choice);
    add_ending(json, *this);
    return json;
}

std::string LikelihoodResult::question() const {
    return fmt::format("asks about {}", design.whom());
}

std::string LikelihoodResult::tables() const {
    std::string text = fmt::format("  {:<10} {:>8} {:>10} {:>10} {:>22} {:>10} {:>10}\n",
                                   "hypothesis",
                                   "trials",
                                   "mu theory",
                                   "measured",
                                   fmt::format("{:g}% interval", 100 * level),
                                   "eps theory",
                                   "eps at least");
    for (std::size_t h = 0; h < verdicts.size(); ++h)
        text += hypothesis_line(design.hypotheses[h], verdicts[h]);
    text += fmt::format(
        "  the accountant's bound for any contributions: {}epsilon {} ({})\n",
        std::isnan(design.claim_mu) ? "" : fmt::format("mu {}, ", or_infinite(design.claim_mu)),
        or_infinite(design.claim_epsilon),
        design.argument);
    if (whiteness)
        text += fmt::format(
            "  noise: mean square {:.5f} of what the plan says, largest of {} correlations {:.2f} "
            "standard deviations (p = {:.3g})\n",
            whiteness->variance,
            whiteness->dimensions * (whiteness->dimensions - 1) / 2,
            whiteness->largest_correlation,
            whiteness->p_value);
    if (!mu_of_run.empty())
        text += fmt::format("  what was sent shows mu {} at most; {} messages were not sent\n",
                            or_infinite(*std::ranges::max_element(mu_of_run)),
                            messages_missed);
    if (mask_pairs > 0) text += fmt::format("  masks: {} pairs of shares compared\n", mask_pairs);
    if (choice) text += choice_figures_text(*choice);
    return text;
}

std::string LikelihoodResult::agreement() const {
    return std::isinf(design.claim_epsilon)
               ? fmt::format(
                     "what was seen agrees with the accountant, which says that {} is "
                     "NOT PROTECTED from this view",
                     design.whom())
               : "what was seen agrees with the accountant";
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double most_residual_values = 2e7;       // kept for the test of whiteness: 160 MB
constexpr double most_covariance_products = 2e10;  // multiplications of that test

/// Scores of all trials, and residuals without the contribution.
class TrialScores {
  public:
    /// @param test ViewInnovations or RecordedSteps.
    template <class Test>
    TrialScores(const Test& test, const AuditDesign& design)
        : count_(static_cast<Index>(design.hypotheses.size())),
          signs_(design.secret_signs()),
          scores_(VectorXd::Zero(design.trials)) {
        for (std::size_t place = 0; place < design.targets.size(); ++place) {
            const std::vector<int> target(static_cast<std::size_t>(count_), design.targets[place]);
            const VectorXd sides = design.contribution * design.sides_of(place);
            const auto own = test.responses(target, design.patterns() * sides.asDiagonal());
            if (place == 0) {
                expected_ = own;
                continue;
            }
            expected_.whitened += own.whitened;
            expected_.noiseless += own.noiseless;
        }
        // No noise covers the target's contribution in some direction.
        infinite_.assign(static_cast<std::size_t>(count_), false);
        for (Index h = 0; h < count_; ++h)
            infinite_[static_cast<std::size_t>(h)] =
                expected_.noiseless.rows() > 0 && expected_.noiseless.col(h).cwiseAbs().maxCoeff() >
                                                      seen_without_noise * design.contribution;
        const auto dimensions = static_cast<double>(expected_.whitened.rows());
        const double kept = std::min({static_cast<double>(design.trials),
                                      most_residual_values / std::max(1.0, dimensions),
                                      most_covariance_products / (dimensions * dimensions + 1)});
        residuals_ = MatrixXd::Zero(expected_.whitened.rows(), static_cast<Index>(kept));
    }

    void add(const ViewInnovations::Innovation& innovation) {
        add_part(innovation.whitened, expected_.whitened, whitened_rows_, false);
        add_part(innovation.noiseless, expected_.noiseless, noiseless_rows_, true);
        const Index rows = innovation.whitened.rows(), kept = residuals_.cols();
        auto part = residuals_.middleRows(whitened_rows_, rows);
        part = innovation.whitened.leftCols(kept);
        for (Index i = 0; i < kept; ++i)
            part.col(i) -=
                signs_(i) * expected_.whitened.col(i % count_).segment(whitened_rows_, rows);
        whitened_rows_ += rows;
        noiseless_rows_ += innovation.noiseless.rows();
    }

    [[nodiscard]] std::pair<VectorXd, VectorXd> of(Index hypothesis) const {
        const Index trials = (scores_.size() - hypothesis + count_ - 1) / count_;
        const Eigen::Map<const VectorXd, 0, Eigen::InnerStride<>> scores(
            scores_.data() + hypothesis, trials, Eigen::InnerStride<>(count_));
        const Eigen::Map<const VectorXd, 0, Eigen::InnerStride<>> signs(
            signs_.data() + hypothesis, trials, Eigen::InnerStride<>(count_));
        return {scores, signs};
    }
    [[nodiscard]] const MatrixXd& residuals() const { return residuals_; }
    /// mu of a hypothesis in what was sent.
    [[nodiscard]] double mu_of(Index hypothesis) const {
        return infinite_[static_cast<std::size_t>(hypothesis)]
                   ? infinity
                   : 2 * expected_.whitened.col(hypothesis).norm();
    }

  private:
    void add_part(const MatrixXd& values, const MatrixXd& expected, Index first, bool noiseless) {
        if (values.rows() == 0) return;
        for (Index i = 0; i < scores_.size(); ++i) {
            const Index h = i % count_;
            if (infinite_[static_cast<std::size_t>(h)] != noiseless) continue;
            scores_(i) += expected.col(h).segment(first, values.rows()).dot(values.col(i));
        }
    }

    Index count_;
    VectorXd signs_, scores_;
    ViewInnovations::Innovation expected_;
    std::vector<bool> infinite_;
    MatrixXd residuals_;
    Index whitened_rows_ = 0, noiseless_rows_ = 0;
};

/// Compares a hypothesis with the accountant's figures.
/// @param risk of a false alarm.
HypothesisVerdict judge(const Hypothesis& hypothesis,
                        const std::pair<VectorXd, VectorXd>& scores_and_signs,
                        double delta,
                        double level,
                        double risk) {
    const auto& [scores, signs] = scores_and_signs;
    HypothesisVerdict verdict;
    verdict.figures = measure_attack(scores, signs, delta, level);
    // Only one end of an interval is used.
    const AttackFigures strict = measure_attack(scores, signs, delta, 1 - 2 * risk);
    const AttackFigures thresholds = measure_attack(scores, signs, delta, 1 - risk);
    const auto compare = [&](const char* what, double least, double theory) {
        if (least > theory)
            verdict.findings.push_back(
                fmt::format("hypothesis {}: {} is at least {:.4g}, the accountant says {:.4g}",
                            hypothesis.name,
                            what,
                            least,
                            theory));
    };
    // Never exceeds a NaN mu, as of Laplace noise.
    compare("mu", strict.lower, hypothesis.mu_theory);
    compare("epsilon", thresholds.epsilon_lower, hypothesis.epsilon_theory);
    return verdict;
}

std::string whiteness_finding(const WhitenessFigures& whiteness) {
    return fmt::format(
        "the noise is not what the plan says: whitened by the accountant's covariance, its "
        "mean square is {:.6g} instead of 1, and two of {} values are correlated by {:.1f} "
        "standard deviations",
        whiteness.variance,
        whiteness.dimensions,
        whiteness.largest_correlation);
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// Private choices among trials of the strongest hypothesis.
/// @param risk of a false alarm of each test.
ChoiceFigures judge_choices(const LikelihoodResult& result,
                            const TrialScores& trials,
                            const AuditedChoice& choice,
                            const ChoiceRisks& risks) {
    const std::size_t strongest = result.strongest();
    const Hypothesis& hypothesis = result.design.hypotheses[strongest];
    const double mu = trials.mu_of(static_cast<Index>(strongest));
    if (!std::isfinite(hypothesis.mu_theory) || !std::isfinite(mu) || !(mu > 0))
        throw ConfigError(fmt::format(
            "--private-choice: hypothesis {} has no mu between 0 and infinity in this view, and "
            "the cost of a choice is that of Gaussian noise (choose another --mechanism or --view)",
            hypothesis.name));
    const auto& [scores, signs] = trials.of(static_cast<Index>(strongest));
    // The log likelihood ratio is N(b mu^2/4, mu^2/4) / 2.
    ChoiceFigures figures = measure_choices(
        scores / (mu / 2), signs, mu, hypothesis.mu_theory, choice.count, choice.draw, risks);
    figures.hypothesis = hypothesis.name;
    return figures;
}

}  // namespace

LikelihoodResult analyse_likelihood(const std::filesystem::path& views,
                                    const MessageProcess& process,
                                    const View& view,
                                    const AuditDesign& design,
                                    double delta,
                                    double level,
                                    int threads,
                                    bool steps,
                                    const std::optional<AuditedChoice>& choice) {
    LikelihoodResult result;
    result.mechanism = process.plan->mechanism;
    result.delta = delta;
    result.design = design;

    const std::string reason = fmt::format("the audit has {} trials", design.trials);
    std::optional<TrialScores> scores;
    if (steps) {
        const RecordedSteps recorded(views, view, process, design.trials, reason, threads);
        scores.emplace(recorded, design);
        scores->add(recorded.innovation());
        result.messages_missed = recorded.missed();
        append(result.findings, recorded.leak_findings());
    } else {
        RecordedInnovations recorded(views, view, process, design.trials, reason, threads);
        scores.emplace(recorded.test(), design);
        while (const auto innovation = recorded.next()) scores->add(*innovation);
        append(result.findings, recorded.leak_findings());
    }

    // Bonferroni: all tests together have risk 1 - level.
    const bool gaussian = process.plan->distribution() == StreamDistribution::gaussian;
    const double tests = static_cast<double>(design.hypotheses.size()) * (gaussian ? 2 : 1) +
                         (gaussian ? 1 : 0) + (choice ? 2 : 0);
    const double risk = (1 - level) / tests;
    for (std::size_t h = 0; h < design.hypotheses.size(); ++h) {
        result.verdicts.push_back(
            judge(design.hypotheses[h], scores->of(static_cast<Index>(h)), delta, level, risk));
        append(result.findings, result.verdicts.back().findings);
        if (!steps) continue;
        result.mu_of_run.push_back(scores->mu_of(static_cast<Index>(h)));
        const double most = design.hypotheses[h].mu_theory;
        if (result.mu_of_run.back() > most * (1 + 1e-6))
            result.findings.push_back(
                fmt::format("hypothesis {}: the messages that were sent show mu {:.6g}, the "
                            "accountant says {:.6g}",
                            design.hypotheses[h].name,
                            result.mu_of_run.back(),
                            most));
    }
    if (gaussian && scores->residuals().cols() >= fewest_white_samples) {
        result.whiteness = test_whiteness(scores->residuals());
        result.noise_as_accounted = result.whiteness->p_value >= risk;
        if (!result.noise_as_accounted)
            result.findings.push_back(whiteness_finding(*result.whiteness));
    }
    if (choice) {
        result.choice = judge_choices(result, *scores, *choice, {delta, level, risk});
        append(result.findings, result.choice->findings);
    }
    if (view.kind == View::Kind::secure_sum) {
        const MaskCheck masks = check_masks(views, view, *process.graph);
        result.mask_pairs = masks.pairs;
        append(result.findings, masks.findings);
    }
    return result;
}

}  // namespace sotto
