#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "commands/account/account_job.hpp"
#include "commands/cli/command.hpp"
#include "run/run_subject.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/net/mpi_network.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {
        graph_options(),
        plan_options(),
        {"Account",
         {{"view",
           "all-nodes",
           "who observes: eavesdropper, node:a, coalition:a,b, secure-sum:a, all-messages:a,b, "
           "all-nodes, worst-coalition:q, worst-all-messages:q"},
          {"targets", "all", "about whom: all, or u,..."},
          {"inputs",
           "adaptive",
           "adaptive (training: gradients follow messages), fixed (averaging, private means)"},
          {"l2", "0", "regularisation of the training, which counts in partial views"},
          {"sensitivity",
           "",
           "Delta of one participation (default 1 with --noise-std or matrices, else from "
           "--adjacency, --clip-norm, --batch-size)"},
          {"run",
           "",
           "DIR of a training: its graph, plans, rounds and all that happened in it, instead of "
           "options"},
          {"departures",
           "",
           "ROUND:a,b;ROUND:c: agents that are gone from this round on (rounds from 0)"},
          {"observation-a", "", "FILE.npy: A of observations O = A G + B Z, instead of a plan"},
          {"observation-b", "", "FILE.npy: B"},
          {"mu", "", "convert this mu into epsilon at --delta, nothing else"},
          {"tight-gap", "1e-5", "relative gap at which the tight sensitivity is good enough"},
          {"by-distance", "", "write the table by distance to FILE; a picture if it ends in .svg"},
          {"threads", "0", "threads of one process (0: all cores; under mpirun 1)"}}},
        common_options()};
}

/// `--mu M --delta D`, and `--epsilon E --delta D` without anything to account for.
bool converts_only(const ParsedOptions& parsed) {
    if (parsed.has("mu")) return true;
    if (!parsed.given("epsilon")) return false;
    for (const auto& group : options())
        for (const auto& option : group.options) {
            const bool harmless = option.name == "epsilon" || option.name == "delta" ||
                                  option.name == "json" || option.name == "quiet" ||
                                  option.name == "config" || option.name == "threads";
            if (!harmless && option.kind != Option::Kind::flag && parsed.given(option.name))
                return false;
        }
    return true;
}

void convert(const ParsedOptions& parsed) {
    const double delta = parsed.real("delta");
    require_delta("--delta", delta);
    double mu = 0;
    if (parsed.has("mu")) {
        if (parsed.given("epsilon"))
            throw ConfigError("--mu: --epsilon is given too; one of them is converted");
        mu = parsed.real("mu");
        require_positive("--mu", mu);
    } else {
        require_positive("--epsilon", parsed.real("epsilon"));
        mu = gdp_mu(parsed.real("epsilon"), delta);
    }
    nlohmann::ordered_json json;
    json["mu"] = mu;
    json["epsilon"] = parsed.has("mu") ? gdp_epsilon(mu, delta) : parsed.real("epsilon");
    json["delta"] = delta;
    json["renyi_alpha2"] = mu * mu;
    json["rdp_epsilon"] = rdp_epsilon(mu, delta);
    write_json(parsed, json.dump(2) + "\n");
    if (std::FILE* out = report_stream(parsed))
        fmt::print(out,
                   "mu {:.9g} is epsilon {:.9g} at delta {:g} (exact; by Renyi divergence {:.9g}); "
                   "Renyi divergence of order 2: {:.9g}\n",
                   mu,
                   json["epsilon"].get<double>(),
                   delta,
                   rdp_epsilon(mu, delta),
                   mu * mu);
}

/// The account of a run asks for observers only; the rest is in its directory.
void require_only_questions(const ParsedOptions& parsed) {
    const std::vector<std::string> allowed{
        "run", "view", "targets", "tight-gap", "by-distance", "threads", "json", "quiet", "config"};
    for (const auto& group : options())
        for (const auto& option : group.options)
            if (parsed.given(option.name) &&
                std::ranges::find(allowed, option.name) == allowed.end())
                throw ConfigError(
                    fmt::format("--{}: has no meaning with --run, whose directory says it "
                                "(allowed: {})",
                                option.name,
                                fmt::join(allowed, ", ")));
}

/// Observers, targets and how well to look: of any account.
void read_questions(const ParsedOptions& parsed, AccountConfig& config) {
    config.view = parsed.text("view");
    config.targets = parsed.text("targets");
    config.how.tight_gap = parsed.real("tight-gap");
    require_in_range("--tight-gap", config.how.tight_gap, 1e-9, 1);
    const long threads = parsed.integer("threads", 0);
    require_in_range("--threads", static_cast<double>(threads), 0, 4096);
    config.how.threads = static_cast<int>(threads);
}

/// What is accounted for: a plan the options describe, or a run.
struct AccountTask {
    AccountConfig config;
    std::optional<RecordedRun> run;
};

AccountTask read_account_task(const ParsedOptions& parsed) {
    AccountTask task;
    AccountConfig& config = task.config;
    if (parsed.has("run")) {
        require_only_questions(parsed);
        const std::string& directory = parsed.text("run");
        task.run = read_recorded_run(directory, train_config_of_run("--run", directory));
        static_cast<SubjectConfig&>(config) = subject_config_of(*task.run);
        read_questions(parsed, config);
        return task;
    }
    config.graph = read_graph_config(parsed);
    config.plan = read_plan_config(parsed);
    read_questions(parsed, config);
    const std::string& inputs = parsed.text("inputs");
    const std::vector<std::string> allowed{"adaptive", "fixed"};
    if (std::ranges::find(allowed, inputs) == allowed.end())
        throw unknown_name_error("--inputs", inputs, allowed);
    config.fixed_inputs = inputs == "fixed";
    config.l2 = parsed.real("l2");
    if (parsed.has("sensitivity")) config.sensitivity = parsed.real("sensitivity");
    // A sensitivity that is given belongs to whatever takes part, so cyclic participation is fine.
    if ((config.sensitivity || config.plan.noise_std) && !parsed.given("adjacency") &&
        config.plan.participation.cycle > 1)
        config.plan.adjacency = Adjacency::record;
    if (parsed.has("departures")) config.departures = parsed.text("departures");
    return task;
}

/// A and B of somebody else's system.
bool account_for_matrices(const ParsedOptions& parsed) {
    if (!parsed.has("observation-a") && !parsed.has("observation-b")) return false;
    for (const char* needed : {"observation-a", "observation-b"})
        if (!parsed.has(needed))
            throw ConfigError(
                fmt::format("--{}: is needed too (A and B of O = A G + B Z)", needed));
    if (!parsed.given("agents"))
        throw ConfigError(
            "--agents: is needed with --observation-a: A has that many columns a round");
    for (const char* useless : {"view", "plan", "noise-std", "graph", "topology", "mechanism"})
        if (parsed.given(useless))
            throw ConfigError(fmt::format(
                "--{}: has no meaning with --observation-a, which is the view itself", useless));
    const long agents = parsed.integer("agents", 1);
    require_in_range("--agents", static_cast<double>(agents), 1, 100000);
    const double delta = parsed.real("delta");
    require_delta("--delta", delta);
    const double sensitivity = parsed.has("sensitivity") ? parsed.real("sensitivity") : 1;
    const AccountResult result =
        account_matrices(parsed.text("observation-a"),
                         parsed.text("observation-b"),
                         static_cast<int>(agents),
                         parsed.text("targets"),
                         sensitivity,
                         parse_participation("--participation", parsed.text("participation")),
                         delta);
    write_json(parsed, matrices_report_json(result, sensitivity, delta));
    if (std::FILE* out = report_stream(parsed))
        fmt::print(out, "{}", matrices_report_text(result, sensitivity, delta));
    return true;
}

int account_on(Network& network, const ParsedOptions& parsed, const AccountTask& task) {
    const AccountConfig& config = task.config;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (!leader) return;
        require_json_writable(parsed);
        if (parsed.has("by-distance")) require_by_distance_writable(parsed.text("by-distance"));
    });
    std::unique_ptr<AccountSubject> subject;
    if (task.run)
        network.agree([&] { subject = account_subject_of(*task.run); });
    else
        subject = build_account_subject(config, network);
    const AccountResult result = run_account(config, *subject, network);
    network.agree([&] {
        if (!leader) return;
        write_json(parsed, account_report_json(result, config, *subject));
        if (std::FILE* out = report_stream(parsed)) {
            fmt::print(out, "{}", account_report_text(result, config, *subject));
            std::fflush(out);
        }
        if (parsed.has("by-distance")) write_by_distance(result, parsed.text("by-distance"));
    });
    return 0;
}

int account_alone(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    require_json_writable(parsed);
    if (converts_only(parsed)) {
        convert(parsed);
        return 0;
    }
    if (account_for_matrices(parsed)) return 0;
    AccountTask task = read_account_task(parsed);
    int& threads = task.config.how.threads;
    if (threads == 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    set_linear_algebra_threads(threads);
    const auto network = make_memory_network(1, threads);
    return account_on(*network, parsed, task);
}

int account_over_mpi(const std::vector<std::string>& arguments) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        std::optional<ParsedOptions> parsed;
        network->agree([&] { parsed.emplace(options(), arguments); });
        require_same_options(*network, parsed->as_lines());
        const bool small =
            converts_only(*parsed) || parsed->has("observation-a") || parsed->has("observation-b");
        AccountTask task;
        network->agree([&] {
            if (small) {
                if (session.rank() != 0) return;
                if (converts_only(*parsed))
                    convert(*parsed);
                else
                    (void)account_for_matrices(*parsed);
                return;
            }
            task = read_account_task(*parsed);
            if (task.config.how.threads == 0) task.config.how.threads = 1;
            set_linear_algebra_threads(task.config.how.threads);
        });
        return small ? 0 : account_on(*network, *parsed, task);
    });
}

int run(const std::vector<std::string>& arguments) {
    return launch_environment().launched ? account_over_mpi(arguments) : account_alone(arguments);
}

}  // namespace

Command account_command() {
    return {"account",
            "say what every observer learns about every agent",
            "sotto account --graph florentine_families.edges --mechanism ldp --rounds 100 --view "
            "all-nodes",
            options,
            true,
            run};
}

}  // namespace sotto::cli
