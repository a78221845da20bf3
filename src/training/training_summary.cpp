#include "training/training_summary.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ResumedRun& resumed) {
    return {{"round", resumed.round},
            {"repeated_rounds", resumed.repeated},
            {"key_epoch", resumed.key_epoch},
            {"same_keys", resumed.same_keys},
            {"finished", resumed.finished},
            {"agents_gone", resumed.agents_gone}};
}

Json json_of(const std::optional<RoundSeconds>& told) {
    if (!told)
        return {{"gradient", nullptr}, {"noise", nullptr}, {"exchange", nullptr}, {"mix", nullptr}};
    const RoundSeconds& seconds = *told;
    return {{"gradient", seconds.gradient},
            {"noise", seconds.noise},
            {"exchange", seconds.exchange},
            {"mix", seconds.mix}};
}

/// A figure, or null where it is not told.
Json json_of(const std::optional<double>& told) { return told ? Json(*told) : Json(nullptr); }

Json json_of(const std::vector<RankFigures>& ranks) {
    Json json = Json::array();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const RankFigures& mine = ranks[rank];
        json.push_back({{"rank", rank},
                        {"host", mine.host},
                        {"agents", mine.agents},
                        {"seconds", json_of(mine.seconds)},
                        {"bytes_sent", mine.bytes_sent},
                        {"peak_memory_mib", json_of(mine.peak_memory_mib)}});
    }
    return json;
}

Json json_of(const NetworkEstimate& network, long rounds) {
    return {{"latency_seconds", network.latency_seconds},
            {"bits_per_second", network.bits_per_second},
            {"hosts", network.hosts},
            {"ranks", network.ranks},
            {"seconds_per_round", network.seconds_per_round()},
            {"seconds",
             {{"compute", network.compute},
              {"latency", network.latency},
              {"transfer", network.transfer}}},
            {"busiest_host", network.busiest_host},
            {"busiest_bytes_per_round", network.busiest_bytes},
            {"seconds_estimated", network.seconds_per_round() * static_cast<double>(rounds)}};
}

void add_estimate(Json& json, const RunEstimate& estimate, long rounds) {
    json["dry_run"] = true;
    json["memory_mib"] = estimate.memory_mib;
    json["past_noise_drawn_again"] = estimate.past_noise_again;
    json["seconds_per_round"] = estimate.seconds_per_round;
    json["seconds_estimated"] = estimate.seconds_per_round * static_cast<double>(rounds);
    if (estimate.network) json["network"] = json_of(*estimate.network, rounds);
}

/// A number, or null for all.
Json json_of(const std::optional<long>& records) {
    return records ? Json(*records) : Json(nullptr);
}

void add_evaluation(Json& json, const Evaluation& evaluation) {
    json["test_loss"] = number_or_null(evaluation.test_loss);
    json["test_loss_worst"] = number_or_null(evaluation.test_loss_worst);
    json["test_loss_mean_model"] = number_or_null(evaluation.test_loss_mean_model);
    json["test_accuracy"] = number_or_null(evaluation.test_accuracy);
    json["test_accuracy_mean_model"] = number_or_null(evaluation.test_accuracy_mean_model);
    json["train_loss_mean_model"] = number_or_null(evaluation.train_loss_mean_model);
    json["optimality_gap"] = number_or_null(evaluation.optimality_gap);
    json["optimality_gap_agents"] = number_or_null(evaluation.optimality_gap_agents);
    json["consensus_distance"] = number_or_null(evaluation.consensus_distance);
    json["evaluated_records"] = {{"test", json_of(evaluation.records.test)},
                                 {"train", json_of(evaluation.records.train)}};
}

/// Of models before what was done with them after the last round.
void add_stage(Json& json, const std::string& stage, const Evaluation& evaluation) {
    json["test_loss_" + stage] = number_or_null(evaluation.test_loss);
    json["test_accuracy_" + stage] = number_or_null(evaluation.test_accuracy);
    json["consensus_distance_" + stage] = number_or_null(evaluation.consensus_distance);
}

/// What the figures are to be compared with, and what there is to say about them.
void add_judgement(Json& json, const TrainResult& result) {
    const Baselines& other = result.baselines;
    json["constant_accuracy"] = number_or_null(other.constant_accuracy);
    json["constant_loss"] = number_or_null(other.constant_loss);
    json["accuracy_without_privacy"] = number_or_null(other.without_privacy_accuracy);
    json["loss_without_privacy"] = number_or_null(other.without_privacy_loss);
    json["clipped_share"] = number_or_null(result.clipped_share);
}

void add_costs(Json& json, const TrainResult& result) {
    Json& seconds = json["seconds"] = {{"plan", result.plan_seconds}};
    seconds.update(json_of(result.phases));
    seconds["loop"] = result.loop_seconds;
    seconds["evaluate"] = result.evaluate_seconds;
    seconds["total"] = result.total_seconds;
    json["bytes_sent"] = result.bytes_sent;
    json["peak_memory_mib"] = json_of(result.peak_memory_mib);
    json["ranks"] = json_of(result.ranks);
    json["run_directory"] = result.run_directory;
}

}  // namespace

std::string summary_json(const TrainResult& result, const PlanConfig& config) {
    Json json;
    json["mechanism"] = result.mechanism;
    json["agents"] = result.agents;
    json["processes"] = result.processes;
    json["rounds"] = result.rounds;
    json["interrupted"] = result.interrupted;
    json["epsilon"] = number_or_null(result.epsilon);
    json["infinite"] = !std::isfinite(result.epsilon);
    json["mu"] = number_or_null(result.mu);
    json["delta"] = result.delta;
    json["utility"] = name_of(config.utility);
    json["step_size"] = config.steps.step_size;
    json["gossip_steps"] = result.gossip_steps;
    json["final_gossip"] = result.final_gossip;
    if (result.resumed) json["resumed"] = json_of(*result.resumed);
    if (result.dry_run) {
        add_estimate(json, result.estimate, config.rounds);
    } else {
        add_evaluation(json, result.evaluation);
        add_stage(json, "last", result.last);
        add_stage(json, "averaged", result.averaged);
        add_judgement(json, result);
        if (result.clip_norm) json["clip_norm"] = *result.clip_norm;
        add_costs(json, result);
    }
    json["warnings"] = result.warnings;
    return to_text(json);
}

}  // namespace sotto
