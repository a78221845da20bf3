#include "commands/sweep/private_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "net/memory_network.hpp"
#include "noise/normal_stream.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "training/choice_draws.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"
#include "training/training.hpp"
#include "trust/secret.hpp"

namespace sotto {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

fs::path draws_file(const SweepConfig& config) { return config.directory / "draws.json"; }
fs::path released_folder(const SweepConfig& config) { return config.directory / "released"; }
fs::path choice_file(const SweepConfig& config) { return released_folder(config) / "choice.json"; }

TrainingCount count_of(const SweepConfig& config) {
    return {config.private_choice.value(), config.choice_shape};
}

void require_choosable(const SweepConfig& config) {
    if (config.seeds.size() != 1)
        throw ConfigError(fmt::format(
            "seed: a private choice draws its trainings itself, with fresh noise, and needs one "
            "seed for what they share, not {}",
            config.seeds.size()));
    if (config.plot)
        throw ConfigError(
            "plot: a private choice shows one training only; leave out plot, or private-choice");
}

void require_choosable(const TrainConfig& training, ChoiceData data) {
    const auto refuse = [](std::string_view option, std::string_view why) {
        throw ConfigError(fmt::format("{}: {} in a private choice", option, why));
    };
    if (training.noise_seed)
        refuse("noise-seed", "it would repeat the noise, which must be fresh in every training,");
    if (training.task.standardise == Standardise::public_moments)
        refuse("standardise",
               "public moments of the data would be released with the model, at no counted cost; "
               "use private or --bounds");
    if (data == ChoiceData::test_data && !training.task.test_data)
        refuse("choice-data", "public-test-data needs test-data, which no training has");
    if (data == ChoiceData::held_out && protects_agents(training.plan.adjacency))
        refuse("choice-data",
               "held-out records of an agent would all have to be hidden at once, which no count "
               "of records survives; use public-test-data with adjacency agent");
}

/// The losses that somebody who sees a whole training has about any agent.
void add_losses(std::vector<PrivacyLoss>& losses, const PreparedRun& prepared) {
    const Ledger& ledger = prepared.ledger;
    const long rounds = prepared.run.config.plan.rounds;
    std::vector<PrivacyLoss> own;
    if (ledger.record().unit_agents > 1) {
        own.push_back(ledger.largest_after(rounds).loss);  // of the worst person
    } else {
        const PrivacyLosses all = ledger.losses_after(rounds);
        for (const int number : prepared.run.members.numbers)
            own.push_back(all.worst_of(number, ledger.delta()));
    }
    const bool gaussian =
        std::ranges::all_of(own, [](const PrivacyLoss& loss) { return loss.mu().has_value(); });
    if (gaussian) own = {dominating(own)};
    for (PrivacyLoss& loss : own)
        if (std::ranges::find(losses, loss) == losses.end()) losses.push_back(std::move(loss));
}

/// What all trainings must share.
struct CommonGround {
    double delta = 0;
    Adjacency adjacency = Adjacency::agent;
    std::string unit_column;
    int unit_agents = 1;
    bool operator==(const CommonGround&) const = default;
};

CommonGround ground_of(const PreparedRun& prepared) {
    const PrivacyRecord& record = prepared.ledger.record();
    return {prepared.ledger.delta(), record.adjacency, record.unit_column, record.unit_agents};
}

/// Requires that the models reveal no more than the ledger says.
void require_public_models(const PreparedRun& prepared) {
    const NoisePlan& plan = prepared.run.plan;
    if (plan.noiseless() || !models_follow_from_messages(plan))
        throw ConfigError(
            fmt::format("mechanism: the models of {} are as secret as the data and cannot be "
                        "released by a private choice",
                        plan.mechanism));
}

/// Requires that one held-out record moves the score by one right answer at most.
void require_score(const PreparedRun& prepared, ChoiceData data) {
    if (data != ChoiceData::held_out) return;
    const TrainConfig& config = prepared.run.config;
    if (config.evaluated_records.value_or(usual_records(true, prepared.run.members.size())).test)
        throw ConfigError(
            "eval-records: a private choice counts all held-out records, and a record of a part of "
            "them would count more than once (allowed: all, or auto with up to 10000 agents)");
    if (std::isnan(prepared.run.targets.constant_accuracy))
        throw ConfigError(
            "choice-data: the score of held-out records is how many a model predicts correctly, "
            "and this task has no classes; use public-test-data with test data that are public");
    const PrivacyRecord& record = prepared.ledger.record();
    if (!record.unit_column.empty() || record.unit_agents > 1)
        throw ConfigError(
            "choice-data: a person may have many held-out records, and the noise of the score "
            "hides one; use public-test-data with --unit-column or --unit-agents");
}

/// One training of every configuration.
std::vector<SweepTraining> possible_trainings(const SweepConfig& config,
                                              const std::vector<SweepCell>& cells) {
    std::vector<std::size_t> all(configurations_of(cells).size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return drawn_trainings(config, {drawn_cell(cells, all)});
}

/// Digest of everything that the drawn numbers, and their scores, mean.
std::string digest_of(const SweepConfig& config, const std::vector<SweepCell>& cells) {
    Hasher hasher("sotto.private.choice.v1");
    for (const SweepTraining& training : possible_trainings(config, cells))
        hasher.add(std::string_view(training.key));
    hasher.add(std::string_view(config.choose_by));
    hasher.add(std::string_view(fmt::format("{} {}", *config.private_choice, config.choice_shape)));
    return to_hex(hasher.finish());
}

}  // namespace

ChoicePlan plan_choice(const SweepConfig& config,
                       const std::vector<SweepCell>& cells,
                       const std::function<TrainConfig(const std::string&)>& read) {
    require_choosable(config);
    std::vector<PrivacyLoss> losses;
    std::optional<CommonGround> ground;
    double least = infinity, tails = 0;  // over the trainings
    std::string unit;
    for (const SweepTraining& training : possible_trainings(config, cells)) {
        const TrainConfig training_config = read(training.ini);
        require_choosable(training_config, config.choice_data);
        const auto network =
            make_memory_network(std::max(1, agents_of(training_config.graph)), config.threads);
        TrainingListener silent;
        const PreparedRun prepared = prepare_run(training_config, *network, {}, silent);
        require_public_models(prepared);
        require_score(prepared, config.choice_data);
        const CommonGround own = ground_of(prepared);
        if (ground && *ground != own)
            throw ConfigError(
                "private-choice: the trainings differ in delta, adjacency, unit-column or "
                "unit-agents; all must protect the same at the same delta");
        ground = own;
        unit = protected_unit(own.adjacency, own.unit_column, own.unit_agents);
        add_losses(losses, prepared);
        const long rounds = prepared.run.config.plan.rounds;
        least = std::min(least, prepared.ledger.largest_after(rounds).epsilon);
        tails = std::max(tails, prepared.ledger.tails(rounds).delta);
    }
    const double delta = ground.value().delta;
    if (!(delta > 0))
        throw ConfigError(
            "private-choice: trainings with Laplace noise have no delta, which the cost of a "
            "choice is stated at; use a mechanism with Gaussian noise");
    if (!std::isfinite(least) || !(least > 0))
        throw ConfigError("private-choice: every training needs noise and a finite epsilon");
    ChoicePlan plan{{}, 0, unit};
    if (config.choice_data == ChoiceData::held_out) {
        const double mu = gdp_mu(least, delta);
        plan.score_deviation = 1 / mu;
        losses.push_back(PrivacyLoss::gaussian(mu));
    }
    // Every training adds its tails.
    plan.cost = choice_cost(losses, count_of(config), delta - *config.private_choice * tails);
    plan.cost.delta = delta;
    return plan;
}

namespace {

/// The draws of DIR/draws.json.
std::vector<std::size_t> read_draws(const SweepConfig& config,
                                    const std::vector<SweepCell>& cells) {
    const fs::path file = draws_file(config);
    const std::string text = read_file(file);
    const JsonDocument document(text);
    if (document.root().at("of").text() != digest_of(config, cells))
        throw ConfigError(
            fmt::format("output: {} holds a choice among other trainings; use another --output",
                        config.directory.string()));
    std::vector<std::size_t> drawn;
    for (const int number : document.root().at("drawn").integers())
        drawn.push_back(static_cast<std::size_t>(number));
    if (drawn.empty() || std::ranges::max(drawn) >= configurations_of(cells).size())
        throw DataError(fmt::format("{}: it is damaged", file.string()));
    return drawn;
}

/// Removes runs and outcomes of all trainings that were drawn, and the draws as the last.
void remove_unreleased(const SweepConfig& config,
                       const SweepCell& drawn,
                       const SweepFolder& folder) {
    for (const SweepTraining& training : drawn_trainings(config, {drawn})) {
        folder.discard_run(training);
        folder.forget(training);
    }
    fs::remove(draws_file(config));
}

}  // namespace

std::vector<std::size_t> draw_choice(const SweepConfig& config,
                                     const std::vector<SweepCell>& cells,
                                     const SweepFolder& folder) {
    const fs::path file = draws_file(config);
    if (fs::exists(choice_file(config))) {
        if (fs::exists(file))  // not everything was removed after the choice
            remove_unreleased(config, drawn_cell(cells, read_draws(config, cells)), folder);
        throw ConfigError(
            fmt::format("output: {} says that the choice has been made; one more reveals more (use "
                        "another --output, and add the epsilons and deltas of both)",
                        choice_file(config).string()));
    }
    if (!fs::exists(file)) {
        const Json json{
            {"format", "sotto-private-choice"},
            {"of", digest_of(config, cells)},
            {"drawn", draw_configurations(count_of(config), configurations_of(cells).size())}};
        write_file_atomically(file, to_text(json), Readers::owner);
    }
    return read_draws(config, cells);
}

void hide_held_out(SweepOutcome& outcome, double deviation) {
    if (outcome.status != SweepOutcome::Status::done) return;
    const double records = outcome.metrics.at(test_records_name);
    const double right = std::round(outcome.metrics.at("test_accuracy_mean_model") * records);
    std::array<double, normal_block> noise{};
    NormalStream(SecretKey::random()).fill(0, 0, 0, noise);
    outcome.metrics = {
        {noisy_accuracy_name, std::round(right + deviation * noise.front()) / records}};
}

ChosenTraining release_choice(const SweepConfig& config,
                              const ChoicePlan& plan,
                              const SweepCell& cell,
                              const CellResult& result,
                              const SweepFolder& folder) {
    const std::size_t best = result.candidate.value();
    const SweepRow& row = result.validation.at(best);
    if (!row.outcome || row.outcome->status != SweepOutcome::Status::done)
        throw Error(ExitCode::other,
                    "private-choice: no training that was drawn ended well, so none is released; "
                    "use smaller steps and another --output");
    ChosenTraining chosen{cell.candidates.at(best),
                          config.choose_by,
                          row.outcome->metrics.at(config.choose_by),
                          plan};
    const fs::path released = released_folder(config),
                   agents = folder.run_of(row.training) / "agents";
    for (const auto& agent : fs::directory_iterator(agents))
        for (const char* name : {"model.npy", "model.json"})
            if (const fs::path model = agent.path() / name; fs::exists(model)) {
                const fs::path to = released / "agents" / agent.path().filename();
                fs::create_directories(to);
                fs::copy_file(model, to / name, fs::copy_options::overwrite_existing);
            }
    write_file_atomically(choice_file(config), choice_json(config, chosen));
    remove_unreleased(config, cell, folder);
    return chosen;
}

std::string choice_json(const SweepConfig& config, const ChosenTraining& chosen) {
    const ChoicePlan& plan = chosen.plan;
    const ChoiceCost& cost = plan.cost;
    Json options = Json::object();
    for (const auto& [option, value] : chosen.options) options[option] = value;
    return to_text(Json{{"format", "sotto-choice"},
                        {"options", options},
                        {"score", number_or_null(chosen.score)},
                        {"score_of", chosen.score_of},
                        {"choice_data", choice_data_names.name_of(config.choice_data)},
                        {"score_deviation", plan.score_deviation},
                        {"protects", plan.unit},
                        {"private_choice", *config.private_choice},
                        {"choice_shape", config.choice_shape},
                        {"epsilon", number_or_null(cost.epsilon.upper)},
                        {"delta", cost.delta},
                        {"epsilon_one", number_or_null(cost.one)},
                        {"epsilon_added_up", number_or_null(cost.added_up)}});
}

std::string choice_plan_text(const SweepConfig& config, const ChoicePlan& plan) {
    const ChoiceCost& cost = plan.cost;
    std::string text = fmt::format(
        "private choice of the best of {:g} trainings on average (their number stays secret), "
        "each of epsilon {:.6g} at delta {:g}\n"
        "protects   {}\n"
        "released   epsilon {:.6g} at delta {:g}, certified, for whoever sees {} alone\n"
        "others     epsilon {:.6g} for whoever sees {:g} trainings, as agents that train together "
        "do\n",
        *config.private_choice,
        cost.one,
        cost.delta,
        plan.unit,
        cost.epsilon.upper,
        cost.delta,
        released_folder(config).string(),
        cost.added_up,
        *config.private_choice);
    if (plan.score_deviation > 0)
        text += fmt::format(
            "score      held-out records predicted correctly, with noise of standard deviation "
            "{:.3g} records\n",
            plan.score_deviation);
    else
        text +=
            fmt::format("score      {} of the test data, which must be public\n", config.choose_by);
    text +=
        "secret     how many trainings there are, which the lines below and the time show, and all "
        "other files\n";
    return text;
}

std::string choice_text(const SweepConfig& config, const ChosenTraining& chosen) {
    std::string text = "\nchosen    ";
    for (const auto& [option, value] : chosen.options) text += fmt::format(" {} {}", option, value);
    const fs::path released = released_folder(config);
    return text + fmt::format(
                      "\nscore      {:.5g}\n"
                      "released   {} (epsilon {:.6g} at delta {:g}); what else is in {} "
                      "is not protected by it\n"
                      "use        sotto predict --run {} --data FILE --out FILE\n",
                      chosen.score,
                      released.string(),
                      chosen.plan.cost.epsilon.upper,
                      chosen.plan.cost.delta,
                      config.directory.string(),
                      released.string());
}

}  // namespace sotto
