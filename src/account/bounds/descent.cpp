#include "account/bounds/cancelling_noise.hpp"
#include "account/bounds/table.hpp"

namespace sotto {

namespace {

/// mu/2 (1 + 2 delta mu) delta^2 noise / (1 - lambda_2) + 2 delta mu^2 G^2.
std::optional<double> descent_of(const TrainingBoundInput& input) {
    const auto terms = cancelling_noise(input);
    if (!terms || !input.smoothness) return std::nullopt;
    const double smooth = *input.smoothness, step = terms->step;
    const double length = step * terms->gradient_norm;
    return 0.5 * step * (1 + 2 * smooth * step) * smooth * smooth * terms->noise /
               (1 - terms->second_eigenvalue) +
           2 * smooth * length * length;
}

}  // namespace

PublishedBound descent_record() {
    return {.name = "descent_bound",
            .title = "[H] thm 2",
            .source = "[H] Theorem 2",
            .says =
                "what a round adds at most to the expected loss of the mean model, beside "
                "descent; terms of the step's third power are left out",
            .of_training = descent_of};
}

}  // namespace sotto
