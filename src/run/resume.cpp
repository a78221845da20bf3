#include "run/resume.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/plan_json.hpp"

namespace sotto {

RunHistory share_history(Network& network, const ResumeConfig& resume) {
    ByteWriter writer;
    network.agree([&] {
        if (network.process() != 0) return;
        const RunHistory own = read_history(resume.directory);
        if (own.completed)
            throw ConfigError(fmt::format(
                "--resume: the run in {} is complete ({} rounds); nothing is left to do",
                resume.directory,
                own.rounds));
        writer.put_text(to_json(own));
        for (const PrivacyPhase& phase : own.phases) writer.put_text(to_json(phase.plan));
    });
    const std::string packed = network.broadcast(writer.take());
    RunHistory history;
    network.agree([&] {
        ByteReader reader(packed, "the history from rank 0");
        const std::string text(reader.get_text());
        std::vector<std::string> plans;
        while (!reader.done()) plans.emplace_back(reader.get_text());
        history = history_from_json(text, plans, "the history from rank 0");
    });
    return history;
}

Resumption take_up(Network& network,
                   const TrainConfig& config,
                   const RunHistory& history,
                   const Membership& members,
                   const std::optional<Credentials>& credentials) {
    const std::filesystem::path directory = config.resume->directory;
    std::vector<int> numbers;
    for (const int place : network.local_agents()) numbers.push_back(members.number(place));

    Resumption result;
    FoundCheckpoint found = find_checkpoint(directory, network, numbers, result.notes);
    const SealedCheckpoint& sealed = found.sealed;
    const PrivacyPhase& last = history.phases.back();
    const int last_phase = static_cast<int>(history.phases.size()) - 1;
    const long begun = last.use.steps.first_round;
    long sent = sent_before(directory, network, history.run, last_phase, last.members.numbers)
                    .value_or(begun);
    network.agree([&] {
        const auto impossible = [&](const std::string& what) {
            return DataError(
                fmt::format("{}: its files do not fit together ({})", directory.string(), what));
        };
        if (sealed.phase > last_phase || sealed.round > history.rounds)
            throw impossible("a checkpoint of a phase the history does not know");
        if (sealed.phase == last_phase) sent = std::max(sent, sealed.round);
        for (const Checkpoint& own : found.local)
            if (own.run != history.run || own.batch_seed != config.task.seed)
                throw impossible(fmt::format("agent {}'s checkpoint is of another run", own.agent));
    });
    const bool same_agents = members.numbers == last.members.numbers;
    bool same_keys =
        sealed.clean && sealed.phase == last_phase && sent == sealed.round && same_agents;
    if (same_keys && !config.noise_seed) {
        bool opened = credentials.has_value();
        for (std::size_t a = 0; a < found.local.size() && opened; ++a) try {
                result.rings.push_back(open_seeds_of(credentials->identities[a],
                                                     found.local[a],
                                                     last.plan.hash(),
                                                     network.local_agents()[a]));
            } catch (const CryptoError&) {
                opened = false;
            }
        same_keys = network.maximum(opened ? 0 : 1) == 0;
        if (!same_keys) result.rings.clear();
    }
    result.past = history.phases;
    result.checkpoint_phase = sealed.phase;
    result.round = sealed.round;
    result.repeated = sent - sealed.round;
    result.local = std::move(found.local);
    result.totals = sealed.totals;
    if (same_keys) {
        result.going_on = std::move(result.past.back());
        result.past.pop_back();
        result.key_epoch = last.key_epoch;
        result.first_round = begun;
    } else {
        result.past.back().rounds = sent - begun;
        result.key_epoch = last.key_epoch + 1;
        result.first_round = sealed.round;
    }
    return result;
}

}  // namespace sotto
