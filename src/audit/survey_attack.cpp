#include "audit/survey_attack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "learn/norm_histogram.hpp"
#include "net/message_precision.hpp"
#include "noise/noise_source.hpp"
#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "planning/tuning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "store/checkpoint_store.hpp"
#include "store/recorded_ledger.hpp"
#include "training/run_subject.hpp"
#include "training/short_messages.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What one agent recorded of the first exchange, which alone shows noise.
struct RecordedSender {
    fs::path folder;
    int place = 0, number = 0;
    std::uint64_t rounds = 0;
    std::optional<long> records{};
    RecordedRound first{};
};

struct RecordedSurvey {
    const SurveyKind* kind = nullptr;
    std::string folder;
    const PrivacyPhase* phase = nullptr;
    std::vector<RecordedSender> senders{};  ///< ascending

    /// Counts of records, each in one bin; else sums of columns and of their squares.
    [[nodiscard]] bool counts() const { return kind == &survey_of_norms; }
    [[nodiscard]] Index dimension() const { return senders.front().first.gradient.size(); }
};

std::optional<long> records_of_agent(const fs::path& directory, int agent) {
    for (const fs::path& folder : checkpoint_folders(directory)) {
        const AgentFiles files = checkpoints_in(folder);
        if (files.has(agent)) return read_checkpoint(files, agent).checkpoint.records;
    }
    return std::nullopt;
}

/// Agents with a recording in the folder.
std::set<int> recorded_agents_in(const fs::path& folder) {
    std::set<int> agents;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing)) {
        const std::string name = entry.path().filename().string();
        int agent = 0;
        const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), agent);
        if (status == std::errc() && end == name.data() + name.size() &&
            fs::exists(entry.path() / "view.bin"))
            agents.insert(agent);
    }
    return agents;
}

const PrivacyPhase* phase_with(const RunHistory& history, const ViewHeader& header) {
    const auto found = std::ranges::find_if(history.phases, [&](const PrivacyPhase& phase) {
        return phase.key_epoch == header.key_epoch &&
               to_hex(phase.plan.hash()) == header.plan_hash && phase.plan.agents == header.agents;
    });
    return found == history.phases.end() ? nullptr : &*found;
}

/// Adds one recording; false if no phase of the run has it. @throws DataError if it is not of the
/// same round as those before it.
bool take_sender(RecordedSurvey& survey,
                 const fs::path& directory,
                 int agent,
                 const RunHistory& history) {
    RecordedSender sender{.folder = directory / survey.folder / std::to_string(agent)};
    RecordedViewReader reader(sender.folder / "view.bin");
    const ViewHeader& header = reader.header();
    const PrivacyPhase* const phase = phase_with(history, header);
    if (phase == nullptr) return false;
    if (survey.phase == nullptr) survey.phase = phase;
    const bool first = survey.senders.empty();
    if (header.agent != agent || phase != survey.phase ||
        (!first && header.dimension != survey.dimension()) || !reader.next(sender.first) ||
        sender.first.message.cols() != 1)
        throw DataError(
            fmt::format("{}: it is not a recording of agent {} in the round that the other agents "
                        "recorded in {} (copy the folder of the run again)",
                        (sender.folder / "view.bin").string(),
                        agent,
                        survey.folder));
    sender.place = header.agent;
    sender.number = phase->members.number(sender.place);
    sender.rounds = reader.records() / static_cast<std::uint64_t>(header.gossip_steps);
    sender.records = records_of_agent(directory, sender.number);
    survey.senders.push_back(std::move(sender));
    return true;
}

std::vector<RecordedSurvey> recorded_surveys(const fs::path& directory,
                                             const RunHistory& history,
                                             std::vector<std::string>& findings) {
    std::vector<RecordedSurvey> surveys;
    bool any = false;
    for (int start = 0; start < history.starts; ++start)
        for (const SurveyKind* const kind : survey_kinds) {
            RecordedSurvey survey{.kind = kind, .folder = recordings_of(*kind, start)};
            for (const int agent : recorded_agents_in(directory / survey.folder)) {
                any = true;
                if (!take_sender(survey, directory, agent, history))
                    findings.push_back(
                        fmt::format("{}: agent {} recorded a round that is in no phase of the "
                                    "ledger, so nothing is counted for it",
                                    survey.folder,
                                    agent));
            }
            if (!survey.senders.empty()) surveys.push_back(std::move(survey));
        }
    if (!any)
        throw DataError(
            fmt::format("{}: no paid round before its training is recorded there (train without "
                        "--rounds, --batch-size, --clip-norm and --step-size, or with "
                        "--standardise private, and record the views of agents with --record-view)",
                        directory.string()));
    return surveys;
}

/// What is wrong with a contribution; empty: nothing.
std::string fault_of_counts(const VectorXd& counts, std::optional<long> records) {
    if (counts.size() != norm_bins)
        return fmt::format("has {} values (allowed: {} bins)", counts.size(), norm_bins);
    for (Index k = 0; k < counts.size(); ++k)
        if (!(counts(k) >= 0 && counts(k) == std::floor(counts(k))))
            return fmt::format(
                "has {:.6g} in bin {} (allowed: whole numbers from 0 on)", counts(k), k);
    if (records && counts.sum() > static_cast<double>(*records))
        return fmt::format(
            "counts {:.0f} records (allowed: {}, each in one bin)", counts.sum(), *records);
    return {};
}

/// @param most of one record.
std::string fault_of_moments(const VectorXd& sums, std::optional<long> records, double most) {
    constexpr double rounding = 1e-9;
    const double limit = records ? most * static_cast<double>(*records) * (1 + rounding) : infinity;
    const Index columns = sums.size() / 2;
    for (Index k = 0; k < sums.size(); ++k)
        if (!(std::abs(sums(k)) <= limit && (k < columns || sums(k) >= 0)))
            return fmt::format("has {:.6g} as sum of {} of column {} (allowed: {} to {:.6g})",
                               sums(k),
                               k < columns ? "z" : "z^2",
                               k % columns,
                               k < columns ? fmt::format("{:.6g}", -limit) : "0",
                               limit);
    return {};
}

bool sends_contribution_and_noise(const RecordedRound& first, MessagePrecision precision) {
    VectorXd expected = -(first.gradient + first.noise.col(0));
    round_to_precision({expected.data(), static_cast<std::size_t>(expected.size())}, precision);
    return expected == first.message.col(0);
}

bool noise_follows_from_seeds(const RecordedSender& sender, const PrivacyPhase& phase) {
    const KeyRing ring = read_recorded_seeds(sender.folder / "seeds.json", phase.plan);
    MatrixXd noise = MatrixXd::Zero(sender.first.noise.rows(), sender.first.noise.cols());
    NoiseSource(phase.plan, {&ring, 1}, 1).draw(phase.key_epoch, 0, noise);
    return noise == sender.first.noise;
}

struct NoiseFit {
    double ratio = 1, lower = 0, upper = 0;
    [[nodiscard]] bool as_planned() const { return lower <= 1 && 1 <= upper; }
};

/// @param noise coordinates x agents.  @param covariance of the agents.
/// A covariance that is not positive definite gives NaN, which is not as planned.
NoiseFit fit_noise(const MatrixXd& noise, const MatrixXd& covariance, double risk) {
    const Eigen::LLT<MatrixXd> root(covariance);
    const double sum = root.info() == Eigen::Success
                           ? root.matrixL().solve(noise.transpose()).squaredNorm()
                           : std::nan("");
    const auto freedom = static_cast<double>(noise.size());
    const boost::math::chi_squared chi(freedom);
    return {.ratio = sum / freedom,
            .lower = sum / quantile(complement(chi, risk / 2)),
            .upper = sum / quantile(chi, risk / 2)};
}

/// Checks of one round; figures and findings.
class SurveyCheck {
  public:
    SurveyCheck(const RecordedRun& run, const RecordedLedger& ledger, double risk)
        : run_(run), ledger_(ledger), risk_(risk) {}

    [[nodiscard]] SurveyFigures figures_of(const RecordedSurvey& survey) {
        SurveyFigures figures;
        figures.kind = survey.kind->name;
        figures.folder = survey.folder;
        figures.phase = static_cast<int>(survey.phase - run_.history.phases.data());
        figures.share_allowed = survey.kind->share;
        for (const RecordedSender& sender : survey.senders) {
            figures.agents.push_back(sender.number);
            check_sender(survey, sender, figures);
        }
        check_noise(survey, figures);
        count_loss(survey, figures);
        return figures;
    }
    [[nodiscard]] std::vector<std::string> findings() && { return std::move(findings_); }

  private:
    void find(const RecordedSurvey& survey, int number, const std::string& what) {
        findings_.push_back(fmt::format("{}, agent {}: {}", survey.folder, number, what));
    }
    void check_sender(const RecordedSurvey& survey,
                      const RecordedSender& sender,
                      SurveyFigures& figures) {
        const VectorXd& contribution = sender.first.gradient;
        // What persons add is cut to a length, that of a record whose values are all 1.
        const bool persons = !run_.config.task.table.unit.empty();
        const double most = persons ? std::sqrt(static_cast<double>(contribution.size())) : 1;
        const std::string fault = survey.counts()
                                      ? fault_of_counts(contribution, sender.records)
                                      : fault_of_moments(contribution, sender.records, most);
        if (!fault.empty()) {
            figures.contributions_sound = false;
            find(survey, sender.number, "its contribution " + fault);
        }
        if (!sends_contribution_and_noise(sender.first, survey_precision(run_.config))) {
            figures.messages_sound = false;
            find(survey, sender.number, "its message is not its contribution and its noise");
        }
        if (!noise_follows_from_seeds(sender, *survey.phase)) {
            figures.seeds_sound = false;
            find(survey, sender.number, "its noise is not that of its seeds");
        }
        if (sender.rounds > static_cast<std::uint64_t>(survey.phase->rounds))
            find(survey,
                 sender.number,
                 fmt::format("{} rounds are recorded, the ledger counts {}",
                             sender.rounds,
                             survey.phase->rounds));
    }
    void check_noise(const RecordedSurvey& survey, SurveyFigures& figures) {
        std::vector<int> places;
        MatrixXd noise(survey.dimension(), std::ssize(survey.senders));
        for (const RecordedSender& sender : survey.senders) {
            noise.col(std::ssize(places)) = sender.first.noise.col(0);
            places.push_back(sender.place);
        }
        const MatrixXd covariance = spatial_covariance(survey.phase->plan)(places, places);
        const auto text = [](const NoiseFit& fit) {
            return fmt::format("{:.4g} of the variance in the plan, {:.4g} to {:.4g}",
                               fit.ratio,
                               fit.lower,
                               fit.upper);
        };
        const NoiseFit all = fit_noise(noise, covariance, risk_);
        figures.noise_ratio = all.ratio;
        figures.noise_lower = all.lower;
        figures.noise_upper = all.upper;
        if (!all.as_planned())
            findings_.push_back(fmt::format(
                "{}: the noise of all recorded agents has {}", survey.folder, text(all)));
        for (Index u = 0; u < noise.cols(); ++u) {
            const NoiseFit own = fit_noise(noise.col(u), covariance.block(u, u, 1, 1), risk_);
            if (!own.as_planned())
                find(survey,
                     survey.senders[static_cast<std::size_t>(u)].number,
                     "its noise has " + text(own));
        }
    }
    /// Most that one record changes a contribution, L2.
    [[nodiscard]] double sensitivity(const RecordedSurvey& survey) const {
        const bool replaced = run_.config.plan.adjacency == Adjacency::record;
        if (survey.counts()) return replaced ? std::sqrt(2.0) : 1;
        return std::sqrt(static_cast<double>(survey.dimension())) * (replaced ? 2 : 1);
    }
    void count_loss(const RecordedSurvey& survey, SurveyFigures& figures) {
        constexpr double rounding = 1e-6;
        const NoisePlan& plan = survey.phase->plan;
        const PlanConfig& config = run_.config.plan;
        const double length = sensitivity(survey);
        const VectorXd heard = length * coalition_precision(plan, 0).cwiseSqrt();
        const int colluders = coalition_size_of(config, plan.agents, &plan);
        const VectorXd counted = length * coalition_precision(plan, colluders).cwiseSqrt();
        const std::vector<PrivacyBudget> budgets = build_budgets(config, survey.phase->members.all);
        const auto& claimed = ledger_.phases.at(static_cast<std::size_t>(figures.phase)).losses;
        figures.mu = heard.maxCoeff();
        figures.epsilon = guarantee_of(PrivacyLoss::gaussian(figures.mu), config.delta).epsilon;
        for (int place = 0; place < plan.agents; ++place) {
            const int number = survey.phase->members.number(place);
            const auto u = static_cast<std::size_t>(number);
            const double mu = counted(place), claim = claimed[u].mu().value_or(0);
            const double part = std::pow(mu / budgets[u].limit.mu().value_or(0), 2);
            figures.share = std::max(figures.share, part);
            if (!(mu <= claim * (1 + rounding)))
                find(survey,
                     number,
                     fmt::format("its plan allows mu {:.4g}, the ledger counts {:.4g}", mu, claim));
            if (!(part <= survey.kind->share * (1 + rounding)))
                find(survey,
                     number,
                     fmt::format("it spends {:.3g}% of the budget's mu^2 (allowed: {:g}%)",
                                 100 * part,
                                 100 * survey.kind->share));
        }
    }

    const RecordedRun& run_;
    const RecordedLedger& ledger_;
    double risk_;  // of one interval
    std::vector<std::string> findings_;
};

class SurveyAttack final : public Attack {
  public:
    using Attack::Attack;

    std::unique_ptr<AuditResult> analyse(const fs::path& folder) const override {
        return std::make_unique<SurveyResult>(
            analyse_surveys(folder, config().train, config().level));
    }
};

std::unique_ptr<Attack> start_survey_attack(AuditConfig config,
                                            AuditSubject subject,
                                            Control& /*network*/) {
    return std::make_unique<SurveyAttack>(std::move(config), std::move(subject));
}

}  // namespace

SurveyResult analyse_surveys(const fs::path& directory, const TrainConfig& config, double level) {
    const RecordedRun run = read_recorded_run(directory, config);
    const RecordedLedger ledger = read_recorded_ledger(directory);
    SurveyResult result;
    result.mechanism = run.history.phases.back().plan.mechanism;
    result.task = config.task.task;
    result.delta = config.plan.delta;
    const auto surveys = recorded_surveys(directory, run.history, result.findings);
    // Bonferroni: an interval for all agents of a round, and one for each.
    std::size_t intervals = 0;
    for (const RecordedSurvey& survey : surveys) intervals += 1 + survey.senders.size();
    SurveyCheck check(run, ledger, (1 - level) / static_cast<double>(intervals));
    for (const RecordedSurvey& survey : surveys) result.surveys.push_back(check.figures_of(survey));
    std::ranges::move(std::move(check).findings(), std::back_inserter(result.findings));
    return result;
}

AttackRecord survey_attack() {
    return {.name = "survey",
            .help =
                "whether the paid rounds before a training, which --run names, revealed more "
                "than they may",
            .fixed_inputs = false,
            .sampled = false,
            .of_trainings = true,
            .options = {},
            .defaults = {},
            .start = start_survey_attack};
}

namespace {

using Json = nlohmann::ordered_json;

Json survey_json(const SurveyFigures& survey) {
    return {{"kind", survey.kind},
            {"folder", survey.folder},
            {"phase", survey.phase},
            {"agents", survey.agents},
            {"contributions_sound", survey.contributions_sound},
            {"messages_sound", survey.messages_sound},
            {"seeds_sound", survey.seeds_sound},
            {"noise_ratio", number_json(survey.noise_ratio)},
            {"noise_interval", {number_json(survey.noise_lower), number_json(survey.noise_upper)}},
            {"mu", number_json(survey.mu)},
            {"epsilon", number_json(survey.epsilon)},
            {"share", number_json(survey.share)},
            {"share_allowed", survey.share_allowed}};
}

std::string survey_line(const SurveyFigures& survey) {
    const auto verdict = [](bool sound) { return sound ? "sound" : "WRONG"; };
    return fmt::format(
        "  {:<16} {:>6} {:>13} {:>8} {:>6} {:>6.4f} {:>16} {:>7} {:>7} {:>6.2f}% {:>7g}%\n",
        survey.folder,
        survey.agents.size(),
        verdict(survey.contributions_sound),
        verdict(survey.messages_sound),
        verdict(survey.seeds_sound),
        survey.noise_ratio,
        fmt::format("{:.4f} to {:.4f}", survey.noise_lower, survey.noise_upper),
        number_text(survey.mu, 4),
        number_text(survey.epsilon, 4),
        100 * survey.share,
        100 * survey.share_allowed);
}

}  // namespace

Json SurveyResult::json() const {
    Json json = run_json(*this);
    json["view"] = view;
    json["survey"] = Json::array();
    for (const SurveyFigures& survey : surveys) json["survey"].push_back(survey_json(survey));
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string SurveyResult::question() const {
    return fmt::format("hears {} paid round{} before the training",
                       surveys.size(),
                       surveys.size() == 1 ? "" : "s");
}

std::string SurveyResult::tables() const {
    std::string text =
        fmt::format("  {:<16} {:>6} {:>13} {:>8} {:>6} {:>6} {:>16} {:>7} {:>7} {:>7} {:>8}\n",
                    "round",
                    "agents",
                    "contributions",
                    "messages",
                    "seeds",
                    "noise",
                    "interval",
                    "mu",
                    "epsilon",
                    "of mu^2",
                    "at most");
    for (const SurveyFigures& survey : surveys) text += survey_line(survey);
    return text + fmt::format(
                      "  noise: its variance against the plan's; all intervals together "
                      "hold with {:g}% confidence\n",
                      100 * level);
}

std::string SurveyResult::agreement() const {
    return "the paid rounds sent what they may, with the noise that the ledger counts";
}

}  // namespace sotto
