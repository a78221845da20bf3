#include "account/bounds/cancelling_noise.hpp"
#include "account/bounds/table.hpp"

namespace sotto {

namespace {

/// What a round adds over mu/2 (1 - 2 mu delta), by which Theorem 2 telescopes.
std::optional<double> stationarity_of(const TrainingBoundInput& input) {
    const std::optional<double> added = descent_record().of_training(input);
    if (!added) return std::nullopt;
    const double step = input.config.steps.step_size;
    const double kept = 1 - 2 * step * *input.smoothness;
    if (!(kept > 0)) return std::nullopt;
    return *added / (0.5 * step * kept);
}

}  // namespace

PublishedBound stationarity_record() {
    return {.name = "stationarity_bound",
            .title = "[H] cor 1",
            .source = "[H] Corollary 1",
            .says =
                "mean over rounds of the squared gradient at the mean model, after many rounds; "
                "what falls with their number is not in it",
            .of_training = stationarity_of};
}

}  // namespace sotto
