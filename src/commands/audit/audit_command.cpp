#include <fmt/format.h>

#include <array>
#include <memory>

#include "audit/audit_job.hpp"
#include "audit/audit_options.hpp"
#include "commands/cli/command.hpp"
#include "commands/report/report_job.hpp"
#include "commands/report/report_page.hpp"
#include "core/files.hpp"
#include "core/output.hpp"
#include "net/agreement.hpp"
#include "options/option_parser.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"
#include "training/progress.hpp"
#include "training/stop_signal.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_audit() { return with_general(audit_option_set().written()); }

/// Options that a run directory replaces: it has the run's options, plan and seed in files.
constexpr std::array files_of_run{"config", "plan", "seed"};

void require_beside_recordings(const OptionTexts& given) {
    const auto refuse = [&](const std::string& option) {
        if (given.contains(option))
            throw ConfigError(
                fmt::format("--{}: has no meaning with --run, whose directory sets it", option));
    };
    for (const char* option : files_of_run) refuse(option);
    for (const auto& option : audit_options().options.records())
        if (!option.beside_run) refuse(option.name);
}

/// The options of an audit; with --run, those of the run.
OptionTexts parse(std::vector<std::string> arguments) {
    const OptionTexts given = parse_options(options_of_audit(), arguments);
    const auto run = given.find("run");
    if (run == given.end() || attacks_training(given)) return given;
    require_beside_recordings(given);
    arguments.insert(
        arguments.end(),
        {"--config", run->second + "/config.ini", "--plan", run->second + "/plan.json"});
    return parse_options(options_of_audit(), arguments);
}

/// Writes the page of the run, with its attack.
void draw_attack(const AuditConfig& config, const std::string& directory, std::FILE* out) {
    ReportConfig page;
    page.directory = directory;
    page.run = train_config_of_run("--run-directory", directory);
    page.threads = config.train.threads;
    write_file_atomically(*config.report, make_report(page).page);
    if (out != nullptr) say(out, "report: {}\n", *config.report);
}

int audit_on(Network& network, const GeneralOptions& general, const AuditConfig& config) {
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (!leader) return;
        require_json_writable(general);
        if (!config.report) return;
        require_page_libraries();
        require_writable(*config.report);
    });
    std::FILE* report = leader ? report_stream(general) : nullptr;
    Progress progress(report);
    const AuditOutcome outcome = run_audit(config, network, progress, stop_requested);
    progress.finish();
    if (leader) {
        write_json(general, audit_report_json(*outcome.result));
        if (report != nullptr) {
            say(report, "{}", audit_report_text(*outcome.result));
            std::fflush(report);
        }
        if (config.report) draw_attack(config, outcome.result->run_directory, report);
    }
    return static_cast<int>(outcome.consistent ? ExitCode::ok : ExitCode::audit);
}

int audit_main(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        OptionTexts given;
        auto config = std::make_shared<AuditConfig>();
        ranks.agree([&] {
            given = parse(arguments);
            if (!alone && !attacks_training(given)) resolve_agents(given, ranks.processes());
            *config = read_audit_config(given);
            config->train.threads = granted_threads(config->train.asked_threads, alone);
        });
        require_same_options(ranks, lines_of_all(audit_option_set().written(*config)));
        return PreparedJob{
            [config] { return agents_of(config->train.graph); },
            config->train.threads,
            [config, general = read_general(given)](Network& network) {
                return audit_on(network, general, *config);
            },
            alone ? std::nullopt
                  : std::optional(agree_on_agents(ranks, config->train.graph.topology.agents))};
    });
}

}  // namespace

Command audit_command() {
    return {.name = "audit",
            .summary = "attack with what colluding agents saw, and check the accountant against it",
            .example = "mpirun -n 20 sotto audit --mechanism pairs --view coalition:2,5",
            .description = R"(
Colluding agents attack a run with what they received, sent and know, and what they find out is compared with what the accountant
allows. Exit code 6 means that they found out more. The command trains a run for the attack, or with `--run` analyses the recordings
of an earlier audit again, or (`--attack survey`) those of a training.)",
            .files = {{"DIR/audit.json", "what was found; DIR is `--run-directory`"}},
            .options = options_of_audit,
            .parallel = true,
            .run = audit_main};
}

}  // namespace sotto::cli
