#include "store/directory_secrets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sotto/privacy/privacy_record.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

namespace {

constexpr const char* checkpoint_files = "checkpoints/*/*.checkpoint";

}  // namespace

std::vector<DirectorySecret> directory_secrets(const TrainConfig& config, const NoisePlan& plan) {
    const std::vector<std::string> models{"agents/*/model.npy", checkpoint_files};
    std::vector<DirectorySecret> secrets;
    if (plan.noiseless())
        secrets.push_back({models, "models without any noise"});
    else if (!models_follow_from_messages(plan))
        secrets.push_back({models,
                           "each is made from the agent's own copy of its messages, whose noise is "
                           "not theirs; the ledger is about messages"});
    secrets.push_back({{"metrics.csv", "summary.json", "log.txt", "report.html", "live.html"},
                       "losses and accuracies of raw data, without noise"});
    if (config.tensorboard) secrets.back().files.emplace_back("tensorboard/");
    if (config.task.data != "synthetic")
        secrets.push_back({{"data.json", "agents/*/data.json", checkpoint_files},
                           "digests of the records: who knows all but a little of them can test "
                           "guesses of the rest"});
    if (one_file_an_agent(config.task) && config.task.table.bounds.empty() &&
        config.task.standardise == Standardise::open_moments)
        secrets.push_back({{"agents/*/model.json"},
                           "of tables: mean and deviation of the agent's own training data"});
    if (config.noise_seed)
        secrets.push_back(
            {{"config.ini", checkpoint_files}, "the noise seed, from which all noise follows"});
    else if (config.trust)
        secrets.push_back({{"checkpoints/*/*.seeds"},
                           "seeds of an agent's noise, sealed for its identity: who has both "
                           "removes noise; erased when the run is taken up"});
    if (!config.record_views.empty())
        secrets.push_back(
            {{"views*/"},
             fmt::format("gradients without noise, and seeds, of agents {}; messages they received",
                         fmt::join(config.record_views, ", "))});
    if (config.record_wire)
        secrets.push_back(
            {{"views*/wire/"}, "what crossed the links, as it is without link encryption"});
    return secrets;
}

}  // namespace sotto
