#include "training/train_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "options/beside_run.hpp"
#include "options/option_parser.hpp"
#include "options/run_of_directory.hpp"
#include "options/train_options.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"
#include "store/history_copies.hpp"
#include "store/run_history.hpp"
#include "training/job.hpp"
#include "training/participants.hpp"

namespace sotto {

namespace {

/// Of a run that is taken up.
int agents_left(const RunHistory& history, const ResumeConfig& resume) {
    return history.phases.back().members.size() - static_cast<int>(resume.without.size()) +
           static_cast<int>(resume.joining.size());
}

/// Spares that wait, too.
int agents_left_alone(const TrainConfig& config) {
    const RunHistory history = read_history(config.resume->directory);
    return agents_left(history, *config.resume) +
           static_cast<int>(waiting_spares(config.spares, &history).size()) -
           static_cast<int>(config.resume->joining.size());
}

/// Of files that are restored.
Stay stay_of(const OptionTexts& given) {
    const auto dry_run = given.find("dry-run");
    return dry_run != given.end() && dry_run->second == "true" ? Stay::for_a_look : Stay::for_good;
}

/// config.ini of the run to take up, as rank 0 reads it: the others may not see its files. Nothing
/// for a new run. COLLECTIVE. @throws Error if some ranks take up a run and others do not.
/// @param restored takes the files that rank 0 had lost.
std::optional<ConfigText> share_config_of_run(Network& ranks,
                                              const OptionTexts& given,
                                              RestoredFiles& restored) {
    const bool resumes = given.contains("resume");
    const std::string own = resumes ? "--resume" : "";
    const auto all = ranks.all_gather(own, std::string_view("--resume").size());
    if (std::ranges::all_of(all, [](const std::string& said) { return said.empty(); }))
        return std::nullopt;
    ConfigText of_run{"", "the run's config.ini"};
    ranks.agree([&] {
        const auto without = std::ranges::find(all, std::string());
        const auto with = std::ranges::find_if(all, [](const auto& said) { return !said.empty(); });
        if (without != all.end())
            throw NetworkError(
                fmt::format("rank {} was started without --resume, rank {} with it; start all "
                            "ranks with the same options",
                            without - all.begin(),
                            with - all.begin()));
    });
    // Who lost its disk gets back what the others keep of it.
    (void)restore_history(restored, given.at("resume"), ranks);
    ranks.agree([&] {
        if (ranks.process() == 0) of_run = config_of_run("--resume", given.at("resume"));
    });
    of_run.text = ranks.broadcast(of_run.text, largest_config_bytes);
    return of_run;
}

/// Names of options, and those of a run that nobody gave now.
struct OptionNames {
    std::vector<std::string> given;
    std::set<std::string> kept;
};

/// Adds what the run's config.ini says.
OptionNames add_options_of_run(OptionTexts& given,
                               const std::vector<WrittenGroup>& options,
                               const std::vector<std::string>& arguments,
                               const ConfigText& of_run) {
    OptionNames names;
    for (const auto& [name, text] : given) names.given.push_back(name);
    require_kept_options(of_run);
    given = parse_options(options, arguments, of_run);
    for (const auto& [name, text] : given)
        if (std::ranges::find(names.given, name) == names.given.end()) names.kept.insert(name);
    // What is warned of follows from this one where it is not given too.
    if (std::ranges::find(names.given, "stall-abort") != names.given.end())
        names.given.emplace_back("stall-warn");
    return names;
}

}  // namespace

TrainSetup read_train_setup(Network& ranks,
                            const std::vector<std::string>& arguments,
                            bool alone,
                            const std::vector<WrittenGroup>& options) {
    OptionTexts given;
    ranks.agree([&] {
        given = parse_options(options, arguments);
        if (given.contains("resume"))
            require_beside_run(
                options,
                given,
                "cannot be given with --resume, which goes on with the run's own options");
    });
    TrainSetup setup;
    const auto resumed = given.find("resume");
    setup.restored = std::make_shared<RestoredFiles>(
        stay_of(given), resumed == given.end() ? std::string() : resumed->second);
    const std::optional<ConfigText> of_run = share_config_of_run(ranks, given, *setup.restored);
    ranks.agree([&] {
        OptionNames names;
        if (of_run)
            names = add_options_of_run(given, options, arguments, *of_run);
        else if (!alone)
            resolve_agents(given, ranks.processes());
        setup.config = read_train_config(given, names.kept);
        if (setup.config.resume) setup.config.resume->given = std::move(names.given);
        setup.config.threads = granted_threads(setup.config.asked_threads, alone);
    });
    setup.general = read_general(given);
    return setup;
}

int agents_alone(const TrainConfig& config) {
    return config.resume ? agents_left_alone(config) : agents_of(config.graph);
}

int agents_of_ranks(Network& ranks, const TrainConfig& config) {
    if (!config.resume) return agree_on_agents(ranks, config.graph.topology.agents);
    int agents = 1;
    ranks.agree([&] {
        if (ranks.process() == 0)
            agents =
                std::max(1, agents_left(read_history(config.resume->directory), *config.resume));
    });
    return agents_of_rank_0(ranks, agents);
}

}  // namespace sotto
