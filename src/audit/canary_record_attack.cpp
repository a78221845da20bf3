#include "audit/canary_record_attack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "audit/known_models.hpp"
#include "audit/recorded_messages.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

constexpr const char* canaries_file = "canary-records.json";

/// Fewest draws of present canaries: sums of them are then nearly normal.
constexpr double fewest_draws = 100;

/// The given target, else the agent the view sees most sharply.
int target_of_records(const AuditConfig& config, const AuditSubject& subject) {
    if (const std::optional<int> asked = asked_target(config, subject)) return *asked;
    const std::vector<int> outside =
        agents_outside(subject.view, subject.topography.graph.agents());
    const Eigen::VectorXd precision =
        observed_precision(subject.account->plan, {subject.view.members});
    std::vector<double> seen;
    for (const int agent : outside) seen.push_back(precision(agent));
    return most_exposed(outside, seen);
}

CanaryRecords new_canaries(const AuditConfig& config, const AuditSubject& subject) {
    CanaryRecords canaries{.target = target_of_records(config, subject),
                           .seed = config.train.task.seed,
                           .trials = config.trials.value_or(default_canary_records),
                           .members = subject.view.members};
    const auto target = static_cast<std::size_t>(canaries.target);
    const double draws = subject.account->exposures[target].sampling_probability *
                         static_cast<double>(canaries.trials * config.train.plan.rounds) / 2;
    if (draws < fewest_draws)
        throw ConfigError(
            fmt::format("--rounds: {} rounds with batches of {} draw canaries {:.0f} times, which "
                        "is too few to "
                        "judge by (at least {:.0f}: more --rounds or a larger --batch-size)",
                        config.train.plan.rounds,
                        *config.train.plan.batch_size.number,
                        draws,
                        fewest_draws));
    return canaries;
}

CanaryRecords recorded_canaries(const AuditConfig& config, const AuditSubject& subject) {
    const std::string file = (std::filesystem::path(*config.run) / canaries_file).string();
    CanaryRecords canaries = canary_records_from_json(read_file(file), file);
    if (canaries.target >= subject.topography.graph.agents() ||
        canaries.records() != canary_records_of(config))
        throw DataError(fmt::format("{}: canaries of another run", file));
    if (const auto asked = asked_target(config, subject); asked && *asked != canaries.target)
        throw ConfigError(fmt::format(
            "--targets: {} is not possible with --run {}, whose canaries are of agent {}",
            *asked,
            *config.run,
            canaries.target));
    if (subject.view.members != canaries.members)
        throw ConfigError(fmt::format(
            "--view: {} is not possible with --run {}, where the members' records are canaries too "
            "(allowed: a view with the same members, {})",
            config.view,
            *config.run,
            canaries.members.empty() ? "none"
                                     : fmt::format("{}", fmt::join(canaries.members, ","))));
    return canaries;
}

class CanaryRecordAttack final : public Attack {
  public:
    CanaryRecordAttack(AuditConfig config,
                       AuditSubject subject,
                       CanaryRecords canaries,
                       CanaryAccount account)
        : Attack(std::move(config), std::move(subject)),
          canaries_(std::move(canaries)),
          account_(std::move(account)) {}

    std::function<LocalTask()> inputs(const Control& network) const override {
        return [this, &network] {
            return make_canary_record_task(canaries_, config().train.plan.clip_norm, network);
        };
    }
    void write_inputs(const RunDirectory& directory) const override {
        directory.write(canaries_file, to_json(canaries_));
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path& folder) const override {
        return std::make_unique<CanaryRecordResult>(analyse_canary_records(folder / "views",
                                                                           subject().process,
                                                                           subject().view,
                                                                           canaries_,
                                                                           account_,
                                                                           config().level,
                                                                           config().train.threads));
    }

  private:
    CanaryRecords canaries_;
    CanaryAccount account_;
};

std::unique_ptr<Attack> start_canary_record_attack(AuditConfig config,
                                                   AuditSubject subject,
                                                   Control& network) {
    CanaryRecords canaries;
    std::optional<CanaryAccount> account;
    network.agree([&] {
        if (config.train.plan.unit_agents > 1)
            throw ConfigError(fmt::format(
                "--unit-agents: {} is not possible with --attack canary-records, which asks about "
                "the records of one agent (allowed: 1; or --attack likelihood with --participation "
                "every, which asks about persons at several agents)",
                config.train.plan.unit_agents));
        canaries = config.run ? recorded_canaries(config, subject) : new_canaries(config, subject);
        account = account_of(canaries, subject);
    });
    return std::make_unique<CanaryRecordAttack>(
        std::move(config), std::move(subject), std::move(canaries), std::move(*account));
}

}  // namespace

long canary_records_of(const AuditConfig& config) {
    const PlanConfig& plan = config.train.plan;
    const long trials = config.trials.value_or(default_canary_records);
    require_in_range(
        "--trials", static_cast<double>(trials), fewest_canary_records, most_canary_records);
    CanaryRecords canaries;
    canaries.trials = trials;
    const long records = canaries.records();
    if (plan.participation.is_allocated()) {
        if (plan.participation.rounds_an_epoch > plan.rounds)
            throw ConfigError(fmt::format(
                "--participation: {} cannot be audited in {} rounds (allowed: epochs of at most "
                "that)",
                name_of(plan.participation),
                plan.rounds));
    } else if (!plan.batch_size.number || *plan.batch_size.number >= records)
        throw ConfigError(fmt::format(
            "--batch-size: {} samples nothing with {} canaries, whose agents have {} records "
            "(allowed: fewer than these)",
            name_of(plan.batch_size),
            trials,
            records));
    if (plan.sampling_probability)
        throw ConfigError(fmt::format(
            "--sampling-probability: {} has no meaning here, where it is --batch-size / records, "
            "{} of them with {} canaries",
            *plan.sampling_probability,
            records,
            trials));
    if (config.train.noise_seed == config.train.task.seed)
        throw ConfigError(
            fmt::format("--noise-seed: {} is also the --seed, so everybody would know the coins "
                        "(allowed: another number)",
                        *config.train.noise_seed));
    return records;
}

AttackRecord canary_record_attack() {
    return {.name = "canary-records",
            .help = "which canary records an agent has that draws its batches in secret",
            .fixed_inputs = true,
            .sampled = true,
            .options = {"targets", "trials"},
            .defaults = {{"rounds", "100"},
                         {"adjacency", "record-add-remove"},
                         {"participation", "poisson"},
                         {"batch-size", "400"}},
            .start = start_canary_record_attack};
}

namespace {

using Json = nlohmann::ordered_json;

Json rates_json(const CanaryRates& rates) {
    return {{"aimed", rates.aimed},
            {"false_positive_rate", rates.false_positive},
            {"true_positive_rate", rates.true_positive},
            {"true_positive_rate_theory", rates.theory}};
}

Json check_json(const CoinCheck& check, double risk) {
    return {{"check", check.name},
            {"measured", number_json(check.measured)},
            {"expected", number_json(check.expected)},
            {"standard_error", number_json(check.standard_error)},
            {"p_value", number_json(check.p_value)},
            {"passed", check.p_value >= risk}};
}

}  // namespace

Json CanaryRecordResult::json() const {
    Json json = run_json(*this);
    json["view"] = view;
    json["target"] = canaries.target;
    json["trials"] = canaries.trials;
    json["present"] = present;
    json["batch_size"] = batch_size;
    json["sampling_probability"] = secret.probability;
    if (secret.rounds_an_epoch > 1) json["rounds_an_epoch"] = secret.rounds_an_epoch;
    json["noise_multiplier"] = number_json(noise_multiplier);
    json["epsilon_theory"] = number_json(epsilon_theory);
    json["epsilon_lower"] = number_json(epsilon_lower);
    json["one_run"] = {{"epsilon_lower", number_json(one_run.epsilon_lower)},
                       {"guesses", one_run.guesses},
                       {"correct", one_run.correct},
                       {"gaussian_epsilon_lower", number_json(one_run.gaussian_epsilon_lower)}};
    json["rates"] = Json::array();
    for (const CanaryRates& of_threshold : rates) json["rates"].push_back(rates_json(of_threshold));
    json["checks"] = Json::array();
    for (const CoinCheck& check : checks) json["checks"].push_back(check_json(check, check_risk));
    json["rounds_recorded"] = rounds_recorded;
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string CanaryRecordResult::question() const {
    return fmt::format("asks which canary records agent {} has", canaries.target);
}

std::string CanaryRecordResult::tables() const {
    std::string text = fmt::format(
        "  canaries: {} of {} are in the shard; a record joins a batch with probability {:.6g}, "
        "noise multiplier {}\n",
        present,
        canaries.trials,
        secret.probability,
        number_text(noise_multiplier, 4));
    text += fmt::format(
        "  epsilon of a record at delta {:g}: the accountant says {}; at least {} by a threshold, "
        "at least {} by {} guesses, {} of them correct ({} if it is Gaussian)\n",
        delta,
        number_text(epsilon_theory, 4),
        number_text(epsilon_lower, 4),
        number_text(one_run.epsilon_lower, 4),
        one_run.guesses,
        one_run.correct,
        number_text(one_run.gaussian_epsilon_lower, 4));
    text += fmt::format("  {:>16} {:>10} {:>16} {:>22}\n",
                        "false positives",
                        "measured",
                        "true positives",
                        "at most (accountant)");
    for (const CanaryRates& row : rates)
        text += fmt::format("  {:>16.3g} {:>10.4f} {:>16.4f} {:>22.4f}\n",
                            row.aimed,
                            row.false_positive,
                            row.true_positive,
                            row.theory);
    text += fmt::format("  {:<50} {:>10} {:>10} {:>10} {:>10}\n",
                        "what ran, against what is accounted for",
                        "measured",
                        "expected",
                        "error",
                        "p");
    for (const CoinCheck& check : checks)
        text += fmt::format("  {:<50} {:>10.4g} {:>10.4g} {:>10.2g} {:>10.2g}{}\n",
                            check.name,
                            check.measured,
                            check.expected,
                            check.standard_error,
                            check.p_value,
                            check.p_value < check_risk ? "  FAILS" : "");
    return text;
}

std::string CanaryRecordResult::agreement() const {
    return "what was seen agrees with secret coins and with the accountant";
}

namespace {

namespace fs = std::filesystem;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array aimed_rates{0.01, 0.05, 0.1};
constexpr long values_in_memory = 100'000'000;  // of scores and what they are made of: 800 MB

/// Recorded rounds, whatever is accounted.
long recorded_rounds(const fs::path& views, const View& view, int target) {
    const auto rounds_of = [](const auto& reader) {
        return static_cast<long>(reader.records()) / reader.header().gossip_steps;
    };
    return view.members.empty()
               ? rounds_of(WireReader(views / "wire" / std::to_string(target) / "messages.bin"))
               : rounds_of(
                     RecordedViewReader(views / std::to_string(view.members.front()) / "view.bin"));
}

/// The run, with the rounds recorded beyond it, which are like its last.
MessageProcess with_recorded_rounds(MessageProcess process, long recorded) {
    const long beyond = recorded - process.rounds();
    if (beyond <= 0) return process;
    process.phases.back().rounds += beyond;
    if (!process.step_sizes.empty())
        process.step_sizes.resize(process.step_sizes.size() + static_cast<std::size_t>(beyond),
                                  process.step_sizes.back());
    return process;
}

/// log(1 - q + q e^x), without overflow.
double log_mixture(double probability, double x) {
    constexpr double large = 30;
    return x > large ? x + std::log(probability + (1 - probability) * std::exp(-x))
                     : std::log1p(probability * std::expm1(x));
}

/// A threshold exceeded by this share of the absent canaries of the first half.
double threshold_for(const VectorXd& scores, const VectorXd& signs, double aimed) {
    std::vector<double> absent;
    for (Index i = 0; i < scores.size() / 2; ++i)
        if (signs(i) < 0) absent.push_back(scores(i));
    const auto above = static_cast<std::ptrdiff_t>(aimed * static_cast<double>(absent.size()));
    const auto place = absent.begin() + above;
    std::ranges::nth_element(absent, place, std::greater());
    return *place;
}

/// Rates on the second half; a finding if the accountant does not allow them.
CanaryRates rates_of(const VectorXd& scores,
                     const VectorXd& signs,
                     const TradeOff& trade_off,
                     double aimed,
                     double risk,
                     std::vector<std::string>& findings) {
    const double threshold = threshold_for(scores, signs, aimed);
    long above_plus = 0, plus = 0, above_minus = 0, minus = 0;
    for (Index i = scores.size() / 2; i < scores.size(); ++i) {
        const bool above = scores(i) > threshold;
        (signs(i) > 0 ? plus : minus) += 1;
        (signs(i) > 0 ? above_plus : above_minus) += above ? 1 : 0;
    }
    CanaryRates rates{
        .aimed = aimed,
        .false_positive = static_cast<double>(above_minus) / static_cast<double>(minus),
        .true_positive = static_cast<double>(above_plus) / static_cast<double>(plus),
        .theory = 0};
    rates.theory = trade_off.true_positive_rate(rates.false_positive);
    // Each rate is bounded with half of the risk.
    const double allowed = trade_off.true_positive_rate(rate_at_most(above_minus, minus, risk / 2));
    const double least = 1 - rate_at_most(plus - above_plus, plus, risk / 2);
    if (least > allowed)
        findings.push_back(
            fmt::format("a threshold finds at least {:.4g} of the canaries that are there, the "
                        "accountant allows {:.4g} with so few false positives",
                        least,
                        allowed));
    return rates;
}

std::string finding_of(const CoinCheck& check) {
    return fmt::format("{}: {:.4g} instead of {:.4g} (standard error {:.2g}, p = {:.2g})",
                       check.name,
                       check.measured,
                       check.expected,
                       check.standard_error,
                       check.p_value);
}

/// Bounds of epsilon: at the audit's level for people, at the corrected level for findings.
void measure_bounds(CanaryRecordResult& result,
                    const VectorXd& scores,
                    const VectorXd& signs,
                    const TradeOff& trade_off,
                    double level,
                    double risk) {
    const auto compare = [&](const char* how, double least) {
        if (least > result.epsilon_theory)
            result.findings.push_back(fmt::format(
                "epsilon of a record is at least {:.4g} by {}, the accountant says {:.4g}",
                least,
                how,
                result.epsilon_theory));
    };
    result.epsilon_lower = measure_attack(scores, signs, result.delta, level).epsilon_lower;
    compare("a threshold", measure_attack(scores, signs, result.delta, 1 - risk).epsilon_lower);
    result.one_run = measure_one_run(scores, signs, result.delta, 1 - level);
    compare("guesses", measure_one_run(scores, signs, result.delta, risk).epsilon_lower);
    const auto curve = [&](double rate) { return trade_off.false_positive_rate(rate); };
    if (one_run_excludes(scores, signs, curve, risk))
        result.findings.emplace_back(
            "more canaries are guessed than the accountant's trade-off of false and true positives "
            "allows");
}

CanaryRecordResult begin_result(const MessageProcess& process,
                                const CanaryRecords& canaries,
                                const CanaryAccount& account,
                                long recorded) {
    CanaryRecordResult result;
    result.mechanism = process.plan->mechanism;
    result.canaries = canaries;
    result.delta = account.claim.delta;
    result.batch_size = account.batch_size;
    result.secret = account.secret;
    result.noise_multiplier = account.claim.loss.parameter().value;
    result.epsilon_theory = account.claim.epsilon;
    result.rounds_recorded = recorded;
    if (recorded != process.rounds())
        result.findings.push_back(fmt::format(
            "{} rounds were recorded, the accountant counts {}", recorded, process.rounds()));
    return result;
}

}  // namespace

CanaryAccount account_of(const CanaryRecords& canaries, const AuditSubject& subject) {
    const AccountSubject& account = *subject.account;
    const auto target = static_cast<std::size_t>(canaries.target);
    const Exposure& exposure = account.exposures[target];
    Guarantee claim =
        guarantees(account.plan, {subject.view.members}, account.exposures, account.delta)[target];
    if (claim.infinite())
        throw ConfigError(fmt::format(
            "--view: mechanism {} does not protect agent {} against it, so epsilon is infinite and "
            "there is nothing to test (allowed: a view that the mechanism withstands)",
            account.plan.mechanism,
            canaries.target));
    if (exposure.rounds_an_epoch > 1 && subject.view.kind != View::Kind::all_messages)
        throw ConfigError(
            "--view: random allocation is audited where all messages are seen, since places of an "
            "epoch depend on each other (allowed: eavesdropper, all-messages:...)");
    if (!exposure.levels.empty())
        throw ConfigError(
            "--noise-schedule: a training with secret batches and noise that changes from round to "
            "round is not audited (allowed: constant, or --participation every)");
    TradeOff trade_off(claim.loss, claim.delta);
    return {.contribution = exposure.sensitivity,
            .secret = {exposure.sampling_probability, exposure.rounds_an_epoch},
            .batch_size = exposure.batch_size,
            .claim = std::move(claim),
            .trade_off = std::move(trade_off)};
}

namespace {

/// log(1 - sum_t q + sum_t q e^(x_t)) of the rounds of an epoch, summed over epochs.
double log_mixture_of_epochs(const SecretRounds& secret, const VectorXd& x) {
    double sum = 0;
    for (Index first = 0; first < x.size(); first += secret.rounds_an_epoch) {
        const auto epoch =
            x.segment(first, std::min<Index>(secret.rounds_an_epoch, x.size() - first));
        const double none = 1 - secret.probability * static_cast<double>(epoch.size());
        const double most = std::max(epoch.maxCoeff(), 0.0);
        sum += most + std::log(secret.probability * (epoch.array() - most).exp().sum() +
                               std::max(none, 0.0) * std::exp(-most));
    }
    return sum;
}

/// log dP/dQ of every round's mode with a record in it.
VectorXd round_losses(const ContributionModes& modes, double contribution, Index canary) {
    const VectorXd length = contribution * modes.response.diagonal();
    return length.cwiseProduct(modes.values.col(canary) - length / 2);
}

}  // namespace

VectorXd canary_scores(const ContributionModes& modes,
                       double contribution,
                       const SecretRounds& secret) {
    if (secret.rounds_an_epoch > 1) {
        VectorXd scores(modes.values.cols() - 1);
        for (Index i = 0; i < scores.size(); ++i)
            scores(i) = log_mixture_of_epochs(secret, round_losses(modes, contribution, i));
        return scores;
    }
    const Index trials = modes.values.cols() - 1, count = modes.values.rows();
    VectorXd scores = VectorXd::Zero(trials);
    const CoinModel there(modes.response, contribution, secret, 1);
    for (Index k = 0; k < count; ++k) {
        const double length = modes.by_round ? contribution * modes.response.coeff(k, k) : 0;
        const double mean = there.mean()(k), variance = there.variance()(k);
        for (Index i = 0; i < trials; ++i) {
            const double z = modes.values(k, i);
            scores(i) +=
                modes.by_round
                    ? log_mixture(secret.probability, length * (z - length / 2))
                    : (z * z - (z - mean) * (z - mean) / variance - std::log(variance)) / 2;
        }
    }
    return scores;
}

CanaryRecordResult analyse_canary_records(const fs::path& views,
                                          const MessageProcess& process,
                                          const View& view,
                                          const CanaryRecords& canaries,
                                          const CanaryAccount& account,
                                          double level,
                                          int threads) {
    const long rounds = std::max(recorded_rounds(views, view, canaries.target), process.rounds());
    require_in_range("--rounds",
                     static_cast<double>(rounds),
                     1,
                     static_cast<double>(values_in_memory / canaries.dimension()));
    CanaryRecordResult result = begin_result(process, canaries, account, rounds);
    const MessageProcess ran = with_recorded_rounds(process, rounds);
    RecordedInnovations recorded(views,
                                 view,
                                 ran,
                                 canaries.dimension(),
                                 fmt::format("the audit has {} canaries", canaries.trials),
                                 threads);
    const ContributionModes modes = read_contribution_modes(recorded,
                                                            canaries.target,
                                                            rounds,
                                                            canaries.dimension(),
                                                            view.kind == View::Kind::all_messages);
    CoinSubject subject{
        .signs = canaries.signs(),
        .companions = static_cast<double>(canaries.companions()),
        .contribution = account.contribution,
        .secret = account.secret,
        .known = public_coins(canaries, canaries.seed, account.secret, account.batch_size, rounds)};
    std::ranges::move(member_coins(canaries, views, rounds), std::back_inserter(subject.known));
    result.present = (subject.signs.array() > 0).count();
    result.checks = check_coins(modes, subject);

    // Bonferroni: three bounds, the rates and the checks together have risk 1 - level.
    const auto tests = static_cast<double>(3 + aimed_rates.size() + result.checks.size());
    result.check_risk = (1 - level) / tests;
    const VectorXd scores = canary_scores(modes, account.contribution, account.secret);
    measure_bounds(result, scores, subject.signs, account.trade_off, level, result.check_risk);
    for (const double aimed : aimed_rates)
        result.rates.push_back(rates_of(
            scores, subject.signs, account.trade_off, aimed, result.check_risk, result.findings));
    for (const CoinCheck& check : result.checks)
        if (!(check.p_value >= result.check_risk)) result.findings.push_back(finding_of(check));
    std::ranges::move(recorded.leak_findings(), std::back_inserter(result.findings));
    return result;
}

}  // namespace sotto
