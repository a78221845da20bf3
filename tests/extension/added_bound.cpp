#include "account/published_bound.hpp"

namespace sotto {
namespace {

/// Every target costs a quarter of what a round shows, in every view.
const Registered<PublishedBound> quarter(
    published_bounds(),
    {.name = "quarter_bound",
     .title = "quarter",
     .source = "[Q] eq. 1",
     .says = "a number to see it in every account",
     .of_view = [](const ViewBoundInput&, const View&, std::span<const int> targets) {
         return std::optional<Eigen::VectorXd>(
             Eigen::VectorXd::Constant(std::ssize(targets), 0.25));
     }});

/// As many as there are rounds.
const Registered<PublishedBound> rounds(published_bounds(),
                                        {.name = "rounds_bound",
                                         .title = "rounds",
                                         .source = "[Q] eq. 2",
                                         .says = "a number to see it in every plan",
                                         .of_training = [](const TrainingBoundInput& input) {
                                             return std::optional<double>(
                                                 static_cast<double>(input.config.rounds));
                                         }});

}  // namespace
}  // namespace sotto
