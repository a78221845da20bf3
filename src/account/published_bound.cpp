#include "account/published_bound.hpp"

#include "account/bounds/table.hpp"

namespace sotto {

Registry<PublishedBound>& published_bounds() {
    static Registry<PublishedBound> table("published bounds",
                                          {muffliato_record(),
                                           gossip_sums_record(),
                                           gossip_messages_record(),
                                           disagreement_record(),
                                           descent_record(),
                                           stationarity_record()});
    return table;
}

std::vector<const PublishedBound*> view_bounds() {
    std::vector<const PublishedBound*> bounds;
    for (const PublishedBound& bound : published_bounds().records())
        if (bound.of_view != nullptr) bounds.push_back(&bound);
    return bounds;
}

std::vector<const PublishedBound*> training_bounds() {
    std::vector<const PublishedBound*> bounds;
    for (const PublishedBound& bound : published_bounds().records())
        if (bound.of_training != nullptr) bounds.push_back(&bound);
    return bounds;
}

std::vector<TrainingBoundFigure> bounds_of_training(const TrainingBoundInput& input) {
    std::vector<TrainingBoundFigure> figures;
    for (const PublishedBound* bound : training_bounds())
        if (const auto value = bound->of_training(input)) figures.push_back({bound, *value});
    return figures;
}

}  // namespace sotto
