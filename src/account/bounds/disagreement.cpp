#include "account/bounds/cancelling_noise.hpp"
#include "account/bounds/table.hpp"

namespace sotto {

namespace {

/// mu^2 lambda_2^2 G^2 / (1 - lambda_2)^2 + noise / (1 - lambda_2).
std::optional<double> disagreement_of(const TrainingBoundInput& input) {
    const auto terms = cancelling_noise(input);
    if (!terms) return std::nullopt;
    const double left = 1 - terms->second_eigenvalue;
    const double pulled = terms->step * terms->gradient_norm * terms->second_eigenvalue / left;
    return pulled * pulled + terms->noise / left;
}

}  // namespace

PublishedBound disagreement_record() {
    return {.name = "disagreement_bound",
            .title = "[H] lem 3",
            .source = "[H] Lemma 3",
            .says =
                "mean over agents of the squared distance to the mean model, in every round; "
                "its root bounds consensus_distance",
            .of_training = disagreement_of};
}

}  // namespace sotto
