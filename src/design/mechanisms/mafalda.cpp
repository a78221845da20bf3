#include "design/finish_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "design/time_design.hpp"

namespace sotto {

namespace {

/// R = diag(1/kappa), and the temporal factor that leaves the least noise in all models of all
/// rounds at sens2 = ceil(T/b). [U] section 5.
Design design_mafalda(const DesignInput& input) {
    require_choice_of_rounds(input, "mafalda");
    Design design = ldp_mechanism().design(input);
    const DesignInput relative = relative_input(input);
    ShapedFactor solution = time_given_space(
        relative, relative_covariance(ldp_mechanism().design(relative).plan, relative));
    design.plan.mechanism = "mafalda";
    design.plan = correlate_over_rounds(std::move(design.plan), input, std::move(solution.factor));
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    return design;
}

}  // namespace

Mechanism mafalda_mechanism() {
    return {.name = "mafalda",
            .summary =
                "private noise, optimally correlated over rounds (record adjacency, cyclic "
                "participation)",
            .design = design_mafalda,
            .coalitions = true,
            .correlates_rounds = true,
            .takes_temporal = true,
            .uses_utility = false};
}

}  // namespace sotto
