#include "run/run_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run/resumed_phase.hpp"
#include "run/sent_rounds.hpp"
#include "run/task.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"

namespace sotto {

namespace {

template <class Read>
auto read_json(const std::filesystem::path& file, Read&& read) {
    const std::string text = read_file(file);
    try {
        return read(json_from_text<nlohmann::json>(text));
    } catch (const nlohmann::json::exception& error) {
        throw DataError(fmt::format("{}: it is damaged ({})", file.string(), error.what()));
    }
}

long rounds_that_count(const std::filesystem::path& directory) {
    return read_json(directory / "ledger.json", [](const nlohmann::json& ledger) {
        const std::string status = ledger.at("status");
        const bool final = status == "completed" || status == "interrupted";
        return ledger.at("rounds").at(final ? "completed" : "planned").get<long>();
    });
}

/// The graph may come from a file, which others may have changed since.
void require_same_graph(const std::filesystem::path& directory, const Topography& topography) {
    const std::filesystem::path manifest = directory / "manifest.json";
    if (!std::filesystem::exists(manifest)) return;
    read_json(manifest, [&](const nlohmann::json& json) {
        for (const auto& [key, digest] : {std::pair("graph_hash", topography.graph.hash()),
                                          std::pair("mixing_hash", topography.mixing_hash())})
            if (json.at(key) != to_hex(digest))
                throw DataError(fmt::format(
                    "{}: its {} is not that of the graph and mixing its options make now; a file "
                    "they name has changed since the run",
                    manifest.string(),
                    key));
        return 0;
    });
}

}  // namespace

RecordedRun read_recorded_run(const std::filesystem::path& directory, const TrainConfig& config) {
    RecordedRun run{config,
                    read_history(directory),
                    rounds_that_count(directory),
                    build_topography(config.graph, config.plan.rounds)};
    const int agents = run.built.topography.graph.agents();
    if (agents != run.history.phases.front().members.all)
        throw DataError(fmt::format("{}: the run has {} agents, the graph its options make now {}",
                                    directory.string(),
                                    run.history.phases.front().members.all,
                                    agents));
    require_same_graph(directory, run.built.topography);
    for (PrivacyPhase& phase : run.history.phases)
        phase = complete_phase(std::move(phase), config.plan, run.built.topography.mixing);
    return run;
}

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
    subject->delta = stated_delta(subject->plan.distribution(), run.config.plan.delta);
    const int agents = subject->plan.agents;
    const Eigen::VectorXd squared =
        sent.phases.size() == 1
            ? run_sensitivity_squared(subject->plan, subject->use, sent.rounds.front())
            : Eigen::VectorXd::Zero(agents);
    for (int u = 0; u < agents; ++u)
        subject->exposures.push_back(
            {sent.of(u) != nullptr ? sent.sensitivity(u) : 0, squared(u), 0});
    subject->process = std::move(sent.process);
    return subject;
}

SubjectConfig subject_config_of(const RecordedRun& run) {
    SubjectConfig config;
    config.graph = run.config.graph;
    config.plan = run.config.plan;
    config.plan.rounds = run.rounds;
    config.l2 = run.config.l2;
    config.fixed_inputs = has_fixed_inputs(run.config.task);
    return config;
}

}  // namespace sotto
