#include "account/bounds/equal_noise.hpp"
#include "account/bounds/table.hpp"

namespace sotto {

PublishedBound gossip_sums_record() {
    return {
        .name = "gossip_sums_bound",
        .title = "[G] thm 3",
        .source = "[G] Theorem 3",
        .says =
            "epsilon of a training whose messages are seen in sums, as the paper claims it; "
            "no guarantee: gradients of others carry data on",
        .of_view = [](const ViewBoundInput& input, const View& view, std::span<const int> targets) {
            return gossip_bounds_of(
                GossipTheorem::sums, View::Kind::secure_sum, input, view, targets);
        }};
}

}  // namespace sotto
