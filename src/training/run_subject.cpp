#include "training/run_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "account/account_subject.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "store/recorded_ledger.hpp"
#include "tasks/task.hpp"
#include "training/resume.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// The run as its ledger states it; read_sealed_ledger verifies the ledger.
class LedgerFile {
  public:
    explicit LedgerFile(const fs::path& directory)
        : file_(directory / "ledger.json"), document_(read_sealed_ledger(directory)) {}

    [[nodiscard]] long rounds_that_count() const {
        return read([](const JsonValue& ledger) {
            const std::string status = ledger.at("status").text();
            const bool final = status == "completed" || status == "interrupted";
            return ledger.at("rounds").at(final ? "completed" : "planned").integer<long>(0);
        });
    }
    /// What all agents have enforced. history.json and config.ini are not sealed.
    /// @throws DataError if config.ini says otherwise.
    [[nodiscard]] std::optional<ConvexLosses> convex(const TrainConfig& config) const {
        std::optional<ConvexLosses> convex;
        read([&](const JsonValue& ledger) {
            convex = convex_from_json(ledger);
            if (!convex) return 0;
            const std::vector<double> steps = config.plan.steps.over(config.plan.rounds);
            const double largest = std::ranges::max(steps);
            if (config.l2 != convex->l2 || config.task.feature_norm != convex->feature_norm ||
                !(largest <= convex->largest_step * (1 + 1e-9)))
                ledger.at("convex").fail("the values of config.ini");
            return 0;
        });
        return convex;
    }
    /// history.json and config.ini are not sealed. @throws DataError if they contradict the ledger.
    void require_same(const RunHistory& history, const TrainConfig& config) const {
        read([&](const JsonValue& ledger) {
            require_text(ledger.at("adjacency"), name_of(config.plan.adjacency));
            require_text(ledger.at("participation"), name_of(config.plan.participation));
            const auto phases = ledger.at("phases").items();
            if (phases.size() != history.phases.size()) differs("phases");
            for (std::size_t k = 0; k < phases.size(); ++k) {
                const PrivacyPhase& own = history.phases[k];
                require_text(phases[k].at("plan_hash"), to_hex(own.plan.hash()));
                const bool past = k + 1 < phases.size();
                if (phases[k].at("first_round").integer<long>() != own.use.steps.first_round ||
                    phases[k].at("key_epoch").integer<std::uint32_t>() != own.key_epoch ||
                    phases[k].at("agents_gone").integers() != own.members.gone() ||
                    (past && phases[k].at("rounds").integer<long>() != own.rounds))
                    differs("phases");
            }
            const auto agents = ledger.at("agents").items();
            const PrivacyPhase& now = history.phases.back();
            for (std::size_t place = 0; place < now.members.numbers.size(); ++place) {
                const auto number = static_cast<std::size_t>(now.members.numbers[place]);
                if (number >= agents.size() ||
                    agents[number].at("sensitivity").number() != now.sensitivity[place])
                    differs("sensitivity");
            }
            return 0;
        });
    }

  private:
    template <class Read>
    long read(Read&& read) const {
        try {
            return read(document_.root());
        } catch (const DataError& error) {
            throw DataError(
                fmt::format("{}: it is damaged, or of another run than the files next to it ({})",
                            file_.string(),
                            error.what()));
        }
    }
    static void require_text(const JsonValue& value, const std::string& own) {
        if (value.text() != own)
            value.fail(fmt::format("\"{}\", as the files next to it say", own));
    }
    [[noreturn]] static void differs(const char* what) {
        throw DataError(fmt::format("history.json has another {}", what));
    }

    fs::path file_;
    JsonDocument document_;
};

/// Checks the graph, whose file may have changed since.
void require_same_graph(const fs::path& directory, const Topography& topography) {
    const fs::path manifest = directory / "manifest.json";
    const std::string text = read_file(manifest);
    try {
        const JsonDocument document(text);
        for (const auto& [key, digest] : {std::pair("graph_hash", topography.graph.hash()),
                                          std::pair("mixing_hash", topography.mixing_hash())})
            if (document.root().at(key).text() != to_hex(digest))
                throw DataError(
                    fmt::format("its {} is not that of the graph and mixing that its options give "
                                "now; a file that they name has changed since the run",
                                key));
    } catch (const DataError& error) {
        throw DataError(fmt::format("{}: {}", manifest.string(), error.what()));
    }
}

}  // namespace

RecordedRun read_recorded_run(const std::filesystem::path& directory, const TrainConfig& config) {
    const LedgerFile ledger(directory);
    TrainConfig here = config;
    if (config.neighbours) here.graph.file = (directory / "graph.edges").string();
    RecordedRun run{here,
                    read_history(directory),
                    ledger.rounds_that_count(),
                    build_topography(here.graph, config.plan)};
    const int agents = run.built.topography.graph.agents();
    if (agents != run.history.phases.front().members.all)
        throw DataError(
            fmt::format("{}: the run has {} agents, and the graph that its options give now has {}",
                        directory.string(),
                        run.history.phases.front().members.all,
                        agents));
    require_same_graph(directory, run.built.topography);
    ledger.require_same(run.history, config);
    run.convex = ledger.convex(config);
    return run;
}

namespace {

/// @param squared run_sensitivity_squared of a single phase; 0 of several.
Exposure exposure_of(const SentRounds& sent, int agent, double squared) {
    if (sent.of(agent) == nullptr) return {};
    Exposure exposure = sent.exposure(agent);
    if (exposure.sampling_probability == 1) exposure.sensitivity_squared_over_rounds = squared;
    return exposure;
}

}  // namespace

std::unique_ptr<AccountSubject> account_subject_of(const RecordedRun& run) {
    const auto& phases = run.history.phases;
    auto subject = std::make_unique<AccountSubject>(run.built, NoisePlan{});
    subject->phases = phases;
    subject->phase_plans = plans_by_number(phases);
    SentRounds sent = sent_rounds(
        run.config, subject->built.topography, subject->phases, subject->phase_plans, run.rounds);
    if (sent.phases.empty())
        throw ConfigError("the run has sent no message yet; there is nothing to account for");
    subject->plan = *sent.process.plan;
    subject->use = sent.phases.front()->use;
    subject->settled = static_cast<const PlanConfig&>(run.config.plan);
    subject->delta = stated_delta(subject->plan.distribution(), run.config.plan.delta);
    const int agents = subject->plan.agents;
    const Eigen::VectorXd squared =
        sent.phases.size() == 1
            ? run_sensitivity_squared(subject->plan, subject->use, sent.rounds.front())
            : Eigen::VectorXd::Zero(agents);
    for (int u = 0; u < agents; ++u) subject->exposures.push_back(exposure_of(sent, u, squared(u)));
    subject->surveys = sent.surveys;
    subject->rounds = run.rounds;
    subject->process = std::move(sent.process);
    return subject;
}

SubjectConfig subject_config_of(const RecordedRun& run) {
    SubjectConfig config;
    config.graph = run.config.graph;
    config.plan = run.config.plan;
    config.plan.rounds = run.rounds;
    config.l2 = run.config.l2;
    config.convex = run.convex;
    if (has_fixed_inputs(run.config.task)) config.inputs = Inputs::fixed;
    if (run.convex && run.history.phases.size() == 1) config.inputs = Inputs::convex;
    return config;
}

void take_inputs(SubjectConfig& config, const RecordedRun& run, Inputs inputs) {
    const bool fixed = has_fixed_inputs(run.config.task);
    if (inputs == Inputs::fixed && !fixed)
        throw ConfigError(fmt::format(
            "--inputs fixed: the run trains {}, whose gradients follow messages (allowed: adaptive"
            "{}, or a run of task averaging)",
            run.config.task.task,
            run.convex ? ", convex" : ""));
    if (inputs == Inputs::convex && !run.convex)
        throw ConfigError(
            "--inputs convex: the run's ledger does not say that its agents kept their losses "
            "convex and their steps short, and nothing else shows it (train with --feature-norm R, "
            "which enforces both, or leave --inputs out)");
    if (inputs == Inputs::convex && run.history.phases.size() > 1)
        throw ConfigError(
            "--inputs convex: no bound is known for a run whose agents changed or which measured "
            "something before its training (allowed: adaptive)");
    config.inputs = inputs;
}

}  // namespace sotto
