#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "account/account_job.hpp"
#include "account/distance_table.hpp"
#include "audit/audit_options.hpp"
#include "commands/account/account_options.hpp"
#include "commands/account/account_text.hpp"
#include "commands/cli/command.hpp"
#include "core/output.hpp"
#include "net/agreement.hpp"
#include "options/option_parser.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"
#include "training/run_subject.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_account() {
    return with_general(account_option_set().written());
}

/// @throws ConfigError if one of `names` is given.
void refuse_beside(std::string_view option,
                   std::initializer_list<const char*> names,
                   const OptionTexts& given) {
    for (const char* name : names)
        if (given.contains(name))
            throw ConfigError(
                fmt::format("--{}: has no meaning with --{}, which converts only", name, option));
}

SampledConversion convert_sampled(const AccountOptions& options, const OptionTexts& given) {
    const PlanConfig& plan = options.account.subject.plan;
    if (options.sampled_rounds) {
        refuse_beside("sampled-rounds",
                      {"noise-multiplier", "sampling-probability", "rounds", "epsilon", "mu"},
                      given);
        return convert_sampled_rounds(
            parse_sampled_rounds("--sampled-rounds", *options.sampled_rounds), plan.delta);
    }
    for (const char* needed : {"sampling-probability", "rounds"})
        if (!given.contains(needed))
            throw ConfigError(fmt::format(
                "--{}: is needed too (what each of how many rounds is sampled with)", needed));
    refuse_beside(
        "sampling-probability", {"mu", "graph", "plan", "view", "run", "noise-std"}, given);
    if (options.noise_multiplier.has_value() == given.contains("epsilon"))
        throw ConfigError(
            "--noise-multiplier: exactly one of it and --epsilon is needed; the other is computed");
    const double probability = *options.account.subject.plan.sampling_probability;
    require_sampling_probability("--sampling-probability", probability);
    if (!options.noise_multiplier)
        return convert_sampled_budget(plan.epsilon, plan.delta, probability, plan.rounds);
    const SampledRounds rounds{*options.noise_multiplier, probability, plan.rounds};
    return convert_sampled_rounds({&rounds, 1}, plan.delta);
}

void convert(const AccountOptions& options,
             const OptionTexts& given,
             const GeneralOptions& general) {
    if (options.mu && given.contains("epsilon"))
        throw ConfigError("--mu: --epsilon is given too; give only the one to convert");
    if (converts_sampled_rounds(given)) {
        const SampledConversion sampled = convert_sampled(options, given);
        write_json(general, sampled_conversion_json(sampled));
        if (std::FILE* out = report_stream(general))
            say(out, "{}", sampled_conversion_text(sampled));
        return;
    }
    const PlanConfig& plan = options.account.subject.plan;
    const Conversion conversion = options.mu ? convert_mu(*options.mu, plan.delta)
                                             : convert_epsilon(plan.epsilon, plan.delta);
    write_json(general, conversion_json(conversion));
    if (std::FILE* out = report_stream(general)) say(out, "{}", conversion_text(conversion));
}

/// Accounts for given matrices A and B.
void account_for_matrices(const AccountOptions& options,
                          const OptionTexts& given,
                          const GeneralOptions& general) {
    for (const char* needed : {"observation-a", "observation-b"})
        if (!given.contains(needed))
            throw ConfigError(
                fmt::format("--{}: is needed too (A and B of O = A G + B Z)", needed));
    if (!given.contains("agents"))
        throw ConfigError(
            "--agents: is needed with --observation-a: A has that many columns a round");
    for (const char* useless : {"view", "plan", "noise-std", "graph", "topology", "mechanism"})
        if (given.contains(useless))
            throw ConfigError(fmt::format(
                "--{}: has no meaning with --observation-a, which is the view itself", useless));
    const AccountConfig& config = options.account;
    const double sensitivity = config.subject.sensitivity.value_or(1);
    const AccountResult result = account_matrices(*options.observation_a,
                                                  *options.observation_b,
                                                  config.subject.graph.topology.agents,
                                                  config.targets,
                                                  sensitivity,
                                                  config.subject.plan.participation,
                                                  config.subject.plan.delta);
    write_json(general, matrices_report_json(result, sensitivity, config.subject.plan.delta));
    if (std::FILE* out = report_stream(general))
        say(out, "{}", matrices_report_text(result, sensitivity, config.subject.plan.delta));
}

/// What to account for: a plan that the options describe, or a run.
struct AccountTask {
    AccountOptions options;
    std::optional<RecordedRun> run;
};

/// Adds what the run directory says, if --run names one.
AccountTask make_account_task(const AccountOptions& asked, const OptionTexts& given) {
    AccountTask task{asked, std::nullopt};
    if (!asked.run) return task;
    require_beside_run(options_of_account(),
                       given,
                       "has no meaning with --run, whose directory sets it",
                       {"config"});
    task.run = read_recorded_run(*asked.run, train_config_of_run("--run", *asked.run));
    task.options.account.subject = subject_config_of(*task.run);
    return task;
}

int account_on(Network& network, const AccountTask& task, const GeneralOptions& general) {
    const AccountConfig& config = task.options.account;
    const std::optional<std::string>& by_distance = task.options.by_distance;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (!leader) return;
        require_json_writable(general);
        if (by_distance) require_by_distance_writable(*by_distance);
    });
    std::unique_ptr<AccountSubject> subject;
    if (task.run)
        network.agree([&] { subject = account_subject_of(*task.run); });
    else
        subject = build_account_subject(config.subject, network);
    const AccountResult result = run_account(config, *subject, network);
    network.agree([&] {
        if (!leader) return;
        write_json(general, account_report_json(result, config, *subject));
        if (std::FILE* out = report_stream(general)) {
            say(out, "{}", account_report_text(result, config, *subject));
            std::fflush(out);
        }
        if (by_distance) write_by_distance(result, *by_distance);
    });
    return 0;
}

/// Lets process 0 do conversions and given matrices alone. COLLECTIVE. @return whether it did.
bool is_done_by_leader(Network& ranks,
                       const AccountOptions& options,
                       const OptionTexts& given,
                       const GeneralOptions& general) {
    const bool conversion = converts_only(given);
    if (!conversion && !options.of_matrices()) return false;
    ranks.agree([&] {
        if (ranks.process() != 0) return;
        require_json_writable(general);
        if (conversion)
            convert(options, given, general);
        else
            account_for_matrices(options, given, general);
    });
    return true;
}

int account_main(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        OptionTexts given;
        AccountOptions asked;
        ranks.agree([&] {
            given = parse_options(options_of_account(), arguments);
            asked = read_account_options(given);
        });
        require_same_options(ranks, lines_of_all(account_option_set().written(asked)));
        const GeneralOptions general = read_general(given);
        PreparedJob job{[] { return 1; }, 1, [](Network&) { return 0; }};
        if (is_done_by_leader(ranks, asked, given, general)) return job;
        auto task = std::make_shared<AccountTask>();
        ranks.agree([&] { *task = make_account_task(asked, given); });
        job.threads = task->options.account.how.threads =
            granted_threads(asked.asked_threads, alone);
        job.run = [task, general](Network& network) { return account_on(network, *task, general); };
        return job;
    });
}

}  // namespace

Command account_command() {
    return {.name = "account",
            .summary = "compute what every observer learns about every agent",
            .example =
                "sotto account --graph florentine_families.edges --mechanism ldp --rounds "
                "100 --view all-nodes",
            .description = R"(
Computes for every observer and every agent what the observer learns from the messages of all rounds: mu and epsilon, exact at
`--delta`, worst first. The plan is solved as `sotto plan` does, read with `--plan`, or taken from a training with `--run`. The command
runs in one process or under mpirun, where observers are spread over the ranks.

With `--mu` or `--epsilon` and no other option than `--delta`, or with `--noise-multiplier`, it converts figures and does nothing else.)",
            .options = options_of_account,
            .parallel = true,
            .run = account_main};
}

}  // namespace sotto::cli
