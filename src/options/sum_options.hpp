#pragma once

#include "options/option.hpp"
#include "options/option_bindings.hpp"

namespace sotto {

/// Whether agents learn sums only: of any configuration with a member `secure_sum`.
template <class Config>
[[nodiscard]] Option<Config> secure_sum_option() {
    return {{.name = "secure-sum",
             .help = "{}: agents learn only weighted sums of their neighbours' messages",
             .details = R"(
What sums hide depends on the graph, its schedule and who colludes; it is computed and said, and where they hide
nothing from `--coalition-size` colluders (one at least) `on` is refused ([security](../security.md)). Each rank builds
graph and mixing from its own options and compares them with rank 0's. `--mask-partners H` bounds the cost in
neighbourhoods above 2H + 1. Not with `cdp` and `dp-fedavg`.)",
             .ranks_must_agree = true,
             .peers_may_set = false},
            bound(&Config::secure_sum, on_off())};
}

/// How many share masks: of any configuration with a member `mask_partners`.
template <class Config>
[[nodiscard]] Option<Config> mask_partners_option() {
    return {{.name = "mask-partners",
             .help = "secure-sum: mask partners H on each side; up to 2H+1 neighbours all are "
                     "joined, above a sum withstands 2H-1 colluding ones",
             .ranks_must_agree = true,
             .peers_may_set = false},
            bound(&Config::mask_partners, whole(1, 100000))};
}

}  // namespace sotto
