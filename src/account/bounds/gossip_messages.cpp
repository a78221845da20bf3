#include "account/bounds/equal_noise.hpp"
#include "account/bounds/table.hpp"

namespace sotto {

PublishedBound gossip_messages_record() {
    return {
        .name = "gossip_messages_bound",
        .title = "[G] thm 4",
        .source = "[G] Theorem 4",
        .says =
            "epsilon of a training whose messages neighbours see, as the paper claims it; "
            "no guarantee: gradients of others carry data on",
        .of_view = [](const ViewBoundInput& input, const View& view, std::span<const int> targets) {
            return gossip_bounds_of(
                GossipTheorem::messages, View::Kind::neighbours, input, view, targets);
        }};
}

}  // namespace sotto
