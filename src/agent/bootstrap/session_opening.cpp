#include "sotto/agent/bootstrap/session_opening.hpp"

#include <optional>
#include <string>

#include "sotto/core/hash.hpp"

namespace sotto {

Session open_session(Network& network,
                     const Topography& topography,
                     const NoisePlan& plan,
                     const Credentials* credentials,
                     std::string_view agreed_options) {
    Hasher hasher("sotto.agreed-options.v1");
    const Digest options = hasher.add(agreed_options).finish();
    std::optional<Handshake> handshake;
    network.agree([&] {
        handshake.emplace(HandshakeTerms{network.agents(),
                                         topography.graph.hash(),
                                         topography.mixing_hash(),
                                         plan.hash(),
                                         options},
                          network.local_agents(),
                          credentials);
    });
    const auto announcements =
        network.all_gather(handshake->announcement(),
                           Handshake::announcement_bytes(network.most_agents_of_a_process()));
    std::string confirmation;
    network.agree([&] {
        handshake->receive(announcements);
        confirmation = handshake->confirmation();
    });
    const auto confirmations = network.all_gather(
        confirmation, Handshake::confirmation_bytes(network.most_agents_of_a_process()));
    Session session;
    network.agree([&] { session = handshake->finish(confirmations); });
    return session;
}

}  // namespace sotto
