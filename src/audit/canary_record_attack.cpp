#include "audit/canary_record_attack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "audit/canary_record_analysis.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

constexpr const char* canaries_file = "canary-records.json";

/// Draws of canaries that are there, at least: sums of them are nearly normal.
constexpr double fewest_draws = 100;

/// The agent that was asked for, else the one whom the view sees most sharply.
int choose_target(const AuditConfig& config, const AuditSubject& subject) {
    const int agents = subject.topography.graph.agents();
    if (config.target) {
        require_in_range("--target", *config.target, 0, agents - 1);
        if (subject.view.has_member(*config.target))
            throw ConfigError(
                fmt::format("--target: agent {} is an observer of --view {} and knows its own data",
                            *config.target,
                            config.view));
        return *config.target;
    }
    const std::vector<int> outside = agents_outside(subject.view, agents);
    const Eigen::VectorXd precision =
        observed_precision(subject.account->plan, {subject.view.members});
    std::vector<double> seen;
    for (const int agent : outside) seen.push_back(precision(agent));
    return most_exposed(outside, seen);
}

CanaryRecords new_canaries(const AuditConfig& config, const AuditSubject& subject) {
    CanaryRecords canaries{.target = choose_target(config, subject),
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

/// The canaries of a run that was made before.
CanaryRecords recorded_canaries(const AuditConfig& config, const AuditSubject& subject) {
    const std::string file = (std::filesystem::path(*config.run) / canaries_file).string();
    CanaryRecords canaries = canary_records_from_json(read_file(file), file);
    if (canaries.target >= subject.topography.graph.agents() ||
        canaries.records() != canary_records_of(config))
        throw DataError(fmt::format("{}: canaries of another run", file));
    if (config.target && *config.target != canaries.target)
        throw ConfigError(fmt::format(
            "--target: {} is not possible with --run {}, whose canaries are of agent {}",
            *config.target,
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

    std::function<LocalTask()> inputs(const Network& network) const override {
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
                                                   Network& network) {
    CanaryRecords canaries;
    std::optional<CanaryAccount> account;
    network.agree([&] {
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
    if (!plan.batch_size.number || *plan.batch_size.number >= records)
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
        throw ConfigError(fmt::format(
            "--noise-seed: {} is --seed too, so that everybody knows the coins (allowed: another)",
            *config.train.noise_seed));
    return records;
}

AttackRecord canary_record_attack() {
    return {.name = "canary-records",
            .help = "which of its canary records an agent has, with --participation poisson",
            .fixed_inputs = true,
            .sampled = true,
            .options = {"target", "trials"},
            .defaults = {{"rounds", "100"},
                         {"adjacency", "record-add-remove"},
                         {"participation", "poisson"},
                         {"batch-size", "400"}},
            .start = start_canary_record_attack};
}

}  // namespace sotto
