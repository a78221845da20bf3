#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"
#include "run/training.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string summary_json(const TrainResult& result, const TrainConfig& config) {
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
    json["utility"] = name_of(config.plan.utility);
    json["step_size"] = config.plan.steps.step_size;
    if (result.resumed)
        json["resumed"] = {{"round", result.resumed->round},
                           {"repeated_rounds", result.resumed->repeated},
                           {"key_epoch", result.resumed->key_epoch},
                           {"same_keys", result.resumed->same_keys},
                           {"agents_gone", result.resumed->agents_gone}};
    if (result.dry_run) {
        json["dry_run"] = true;
        json["memory_mib"] = result.estimate.memory_mib;
        json["past_noise_drawn_again"] = result.estimate.past_noise_again;
        json["seconds_per_round"] = result.estimate.seconds_per_round;
        json["seconds_estimated"] =
            result.estimate.seconds_per_round * static_cast<double>(config.plan.rounds);
        return json.dump(2) + "\n";
    }
    const Evaluation& evaluation = result.evaluation;
    json["test_loss"] = number_or_null(evaluation.test_loss);
    json["test_loss_worst"] = number_or_null(evaluation.test_loss_worst);
    json["test_loss_mean_model"] = number_or_null(evaluation.test_loss_mean_model);
    json["test_accuracy"] = number_or_null(evaluation.test_accuracy);
    json["test_accuracy_mean_model"] = number_or_null(evaluation.test_accuracy_mean_model);
    json["train_loss_mean_model"] = number_or_null(evaluation.train_loss_mean_model);
    json["optimality_gap"] = number_or_null(evaluation.optimality_gap);
    json["optimality_gap_agents"] = number_or_null(evaluation.optimality_gap_agents);
    json["consensus_distance"] = number_or_null(evaluation.consensus_distance);
    json["seconds"] = {{"plan", result.plan_seconds},
                       {"gradient", result.phases.gradient},
                       {"noise", result.phases.noise},
                       {"exchange", result.phases.exchange},
                       {"mix", result.phases.mix},
                       {"loop", result.loop_seconds},
                       {"evaluate", result.evaluate_seconds},
                       {"total", result.total_seconds}};
    json["bytes_sent"] = result.bytes_sent;
    json["peak_memory_mib"] = result.peak_memory_mib;
    json["ranks"] = Json::array();
    for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
        const RankFigures& mine = result.ranks[rank];
        json["ranks"].push_back({{"rank", rank},
                                 {"host", mine.host},
                                 {"agents", mine.agents},
                                 {"seconds",
                                  {{"gradient", mine.seconds.gradient},
                                   {"noise", mine.seconds.noise},
                                   {"exchange", mine.seconds.exchange},
                                   {"mix", mine.seconds.mix}}},
                                 {"bytes_sent", mine.bytes_sent},
                                 {"peak_memory_mib", mine.peak_memory_mib}});
    }
    json["run_directory"] = result.run_directory;
    return json.dump(2) + "\n";
}

}  // namespace sotto
