#include "design/mechanisms/table.hpp"
#include "design/seed_group_design.hpp"

namespace sotto {

namespace {

/// R = diag(s2_u) + sum over seed groups of R_k, any covariance of its members. [C] section V-D.
Design design_corn_hbc(const DesignInput& input) { return design_free_groups("corn-hbc", input); }

}  // namespace

Mechanism corn_hbc_mechanism() {
    return {
        .name = "corn-hbc",
        .summary = "private noise plus optimal noise of seed groups, against curious agents too",
        .design = design_corn_hbc,
        .coalitions = true,
        .default_coalition_size = 1,
        .sharing = SeedSharing::seed_groups,
        .larger_groups = true,
        .spatial_part = true};
}

}  // namespace sotto
