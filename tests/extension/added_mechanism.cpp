// A mechanism of a user's own: `twice`, private independent noise of twice the standard deviation
// that the budget asks for.

#include "sotto/design/mechanism.hpp"

namespace sotto {
namespace {

Design design_twice(const DesignInput& input) {
    Design design = find_mechanism("mechanism", "ldp").design(input);
    design.plan.mechanism = "twice";
    design.plan.scale *= 2;
    design.objective *= 4;
    design.lower_bound = design.objective;
    return design;
}

const Registered<Mechanism> twice(mechanisms(),
                                  {.name = "twice",
                                   .summary = "private independent noise, twice as loud",
                                   .design = design_twice,
                                   .coalitions = true,
                                   .uses_utility = false});

}  // namespace
}  // namespace sotto
