#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "commands/audit/attack_membership.hpp"
#include "commands/audit/attack_reconstruction.hpp"
#include "commands/audit/audit_job.hpp"
#include "commands/cli/command.hpp"
#include "commands/cli/progress.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/net/mpi_network.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto::cli {

namespace {

OptionGroup audit_options() {
    return {
        "Audit",
        {{"attack",
          "likelihood",
          "what they try: likelihood (which of two contributions an agent made), reconstruction "
          "(the data of all agents, in private mean estimation), membership (which records agents "
          "trained on)"},
         {"view",
          "eavesdropper",
          "who attacks: " + view_placeholders(ViewUse::audit)},
         {"target", "", "agent they want to know about (default: who is exposed most)"},
         {"hypothesis",
          "all",
          "what the target contributes over the rounds: constant, random (signs), worst (signs "
          "that the view tells apart best), or all three"},
         {"trials", "", "of every hypothesis (default: as many as the width asks)"},
         {"width", "0.05", "half width of the interval of mu, relative to mu"},
         {"confidence", "0.99", "of intervals, and of the verdict over all tests together"},
         {"run",
          "",
          "DIR of an audit that ran before: look at its recordings again, with another view",
          Option::Kind::value,
          false}}};
}

std::vector<OptionGroup> options() {
    return {graph_options(),
            plan_options(),
            task_options(),
            audit_options(),
            peer_options(),
            common_options()};
}

/// Whether an option of the task or the audit has a meaning for an attack.
bool has_meaning(std::string_view option, Attack attack) {
    const auto among = [&](std::initializer_list<std::string_view> names) {
        return std::ranges::find(names, option) != names.end();
    };
    if (among({"attack", "view", "confidence", "run", "seed"})) return true;
    const bool of_the_audit = among({"target", "hypothesis", "trials", "width"});
    if (attack == Attack::likelihood) return of_the_audit;
    return attack == Attack::membership ? !of_the_audit : among({"data", "partition"});
}

/// A run's config.ini holds every option, so one that says its default says nothing.
void require_meaning(const ParsedOptions& parsed, Attack attack) {
    for (const OptionGroup& group : {task_options(), audit_options()})
        for (const Option& option : group.options)
            if (!has_meaning(option.name, attack) && parsed.has(option.name) &&
                parsed.text(option.name) != option.default_text)
                throw ConfigError(fmt::format(
                    "--{}: has no meaning with --attack {}", option.name, name_of(attack)));
}

/// Options of an audit; those of the run where --run names one.
ParsedOptions parse(std::vector<std::string> arguments) {
    ParsedOptions parsed(options(), arguments);
    if (!parsed.has("run")) {
        const Attack attack = parse_attack("--attack", parsed.text("attack"));
        if (attack != Attack::membership && !parsed.given("rounds")) parsed.resolve("rounds", "20");
        if (attack == Attack::reconstruction && !parsed.given("partition"))
            parsed.resolve("partition", "iid");
        return parsed;
    }
    for (const char* useless : {"config", "plan", "attack", "trials", "hypothesis", "seed"})
        if (parsed.given(useless))
            throw ConfigError(fmt::format(
                "--{}: has no meaning with --run, whose run directory says it", useless));
    const std::string directory = parsed.text("run");
    for (const char* option : {"config", "plan"}) {
        arguments.push_back(fmt::format("--{}", option));
        arguments.push_back(directory +
                            (option == std::string_view("plan") ? "/plan.json" : "/config.ini"));
    }
    return ParsedOptions(options(), arguments);
}

AuditConfig read_audit_config(const ParsedOptions& options) {
    AuditConfig config;
    config.attack = parse_attack("--attack", options.text("attack"));
    require_meaning(options, config.attack);
    config.train.graph = read_graph_config(options);
    config.train.plan = read_plan_config(options);
    read_peer_options(options, config.train);
    read_task_options(options, config.train);
    config.train.resolved_ini = options.as_ini("audit");
    config.view = options.text("view");
    if (options.has("target")) config.target = static_cast<int>(options.integer("target", 0));
    config.hypothesis = options.text("hypothesis");
    if (options.has("trials")) config.trials = options.integer("trials", 1);
    config.width = options.real("width");
    config.level = options.real("confidence");
    if (options.has("run")) config.run = options.text("run");
    return config;
}

int audit_on(Network& network, const ParsedOptions& parsed, const AuditConfig& config) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(parsed) : nullptr;
    network.agree([&] {
        if (leader) require_json_writable(parsed);
    });
    Progress progress(report);
    watch_for_stop();
    const auto finish = [&](const auto& result) {
        progress.finish();
        if (leader) {
            write_json(parsed, audit_report_json(result));
            if (report != nullptr) {
                fmt::print(report, "{}", audit_report_text(result));
                std::fflush(report);
            }
        }
        return static_cast<int>(result.consistent ? ExitCode::ok : ExitCode::audit);
    };
    if (config.attack == Attack::reconstruction)
        return finish(run_reconstruction(config, network, progress, stop_requested));
    if (config.attack == Attack::membership)
        return finish(run_membership(config, network, progress, stop_requested));
    return finish(run_audit(config, network, progress, stop_requested));
}

int audit_alone(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed = parse(arguments);
    AuditConfig config = read_audit_config(parsed);
    if (config.train.threads == 0)
        config.train.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    set_linear_algebra_threads(config.train.threads);
    const auto network = make_memory_network(agents_of(config.train.graph), config.train.threads);
    return audit_on(*network, parsed, config);
}

int audit_over_mpi(const std::vector<std::string>& arguments) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        std::optional<ParsedOptions> parsed;
        AuditConfig config;
        network->agree([&] {
            parsed.emplace(parse(arguments));
            resolve_agents(*parsed, session.ranks());
            config = read_audit_config(*parsed);
            if (config.train.threads == 0) config.train.threads = 1;
            set_linear_algebra_threads(config.train.threads);
        });
        require_same_options(*network, parsed->as_lines());
        return audit_on(*network, *parsed, config);
    });
}

int run(const std::vector<std::string>& arguments) {
    return launch_environment().launched ? audit_over_mpi(arguments) : audit_alone(arguments);
}

}  // namespace

Command audit_command() {
    return {"audit",
            "attack with what colluding agents saw, and check the accountant against it",
            "mpirun -n 20 sotto audit --mechanism pairs --view coalition:2,5",
            options,
            true,
            run};
}

}  // namespace sotto::cli
