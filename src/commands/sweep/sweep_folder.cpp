#include "commands/sweep/sweep_folder.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

const std::vector<std::string>& sweep_metrics() {
    static const std::vector<std::string> names{"test_loss",
                                                "test_loss_mean_model",
                                                "test_accuracy",
                                                "test_accuracy_mean_model",
                                                "train_loss_mean_model",
                                                "optimality_gap",
                                                "optimality_gap_agents",
                                                "consensus_distance",
                                                "epsilon",
                                                "mu"};
    return names;
}

std::string to_json(const SweepOutcome& outcome, const std::string& options) {
    Json json;
    json["status"] = sweep_statuses.name_of(outcome.status);
    json["options"] = options;
    json["seconds"] = outcome.seconds;
    if (!outcome.error.empty()) {
        json["error"] = outcome.error;
        json["exit_code"] = outcome.exit_code;
    }
    for (const auto& [name, value] : outcome.metrics)
        json["metrics"][name] = std::isfinite(value) ? Json(value) : Json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

SweepOutcome outcome_from_json(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        SweepOutcome outcome;
        outcome.status = sweep_statuses.parse("status", json.at("status").text());
        outcome.seconds = json.at("seconds").number();
        if (const auto error = json.find("error")) outcome.error = error->text();
        if (const auto code = json.find("exit_code"))
            outcome.exit_code = code->integer<int>(0, 255);
        if (const auto metrics = json.find("metrics"))
            for (const auto& [name, ignored] : metrics->members()) {
                const auto value = metrics->find(name);
                outcome.metrics[name] = value ? value->number() : not_a_number;
            }
        return outcome;
    } catch (const Error& damage) {
        throw DataError(
            fmt::format("{}: not the outcome of a training ({}); remove it, and it is "
                        "trained again",
                        file.string(),
                        damage.what()));
    }
}

namespace fs = std::filesystem;

namespace {

constexpr const char* going_on_name = "going-on";

void make_folders(const fs::path& path) {
    std::error_code failure;
    for (const char* name : {"trainings", "runs", "claims"}) {
        fs::create_directories(path / name, failure);
        if (failure)
            throw_write_failure(
                fmt::format("output: {} cannot be used ({})", path.string(), failure.message()),
                failure.value());
    }
}

std::string random_name() {
    std::array<std::uint8_t, 8> random{};
    randombytes_buf(random.data(), random.size());
    return to_hex(random);
}

}  // namespace

SweepFolder::SweepFolder(fs::path path, Network& network) : path_(std::move(path)) {
    std::string start;
    network.agree([&] {
        if (network.process() != 0) return;
        make_folders(path_);
        lock_ = FileLock::take(path_ / "lock");
        if (!lock_)
            throw ConfigError(fmt::format("output: {} is used by a sweep that is still going on",
                                          path_.string()));
        start = random_name();
        fs::remove_all(path_ / "claims");
        fs::create_directories(path_ / "claims" / start);
        write_file_atomically(path_ / "claims" / start / going_on_name, "");
    });
    start_ = network.broadcast(start, most_line_bytes);
    network.agree([&] {
        if (!going_on())
            throw ConfigError(fmt::format(
                "output: process {} does not see {} of process 0; name a folder that all hosts "
                "share",
                network.process(),
                path_.string()));
    });
}

fs::path SweepFolder::run_of(const SweepTraining& training) const {
    return path_ / "runs" / training.key;
}

void SweepFolder::discard_run(const SweepTraining& training) const {
    const fs::path run = run_of(training);
    keep_what_was_revealed(run, path_ / "spent");
    fs::remove_all(run);
}

std::optional<SweepOutcome> SweepFolder::outcome(const SweepTraining& training) const {
    if (!known(training)) return std::nullopt;
    return outcome_from_json(outcome_file(training));
}

long SweepFolder::missing(const std::vector<SweepTraining>& trainings) const {
    return std::ranges::count_if(trainings,
                                 [&](const SweepTraining& training) { return !known(training); });
}

bool SweepFolder::claim(const SweepTraining& training) const {
    return !known(training) && create_file(claim_file(training), "");
}

bool SweepFolder::claimed(const SweepTraining& training) const {
    return fs::exists(claim_file(training));
}

void SweepFolder::keep(const SweepTraining& training, const SweepOutcome& outcome) const {
    write_file_atomically(outcome_file(training), to_json(outcome, training.ini));
}

void SweepFolder::forget_failure(const SweepTraining& training) const {
    if (const auto ended = outcome(training);
        ended && ended->status == SweepOutcome::Status::failed)
        forget(training);
}

void SweepFolder::forget(const SweepTraining& training) const {
    fs::remove(outcome_file(training));
}

void SweepFolder::remove_claims() const {
    std::error_code ignored;
    fs::remove_all(path_ / "claims", ignored);
}

bool SweepFolder::going_on() const { return fs::exists(going_on_file()); }

void SweepFolder::stop() const {
    std::error_code ignored;
    fs::remove(going_on_file(), ignored);
}

bool SweepFolder::known(const SweepTraining& training) const {
    return fs::exists(outcome_file(training));
}

fs::path SweepFolder::outcome_file(const SweepTraining& training) const {
    return path_ / "trainings" / (training.key + ".json");
}

fs::path SweepFolder::claim_file(const SweepTraining& training) const {
    return path_ / "claims" / start_ / training.key;
}

fs::path SweepFolder::going_on_file() const { return path_ / "claims" / start_ / going_on_name; }

}  // namespace sotto
