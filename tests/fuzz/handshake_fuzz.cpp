// Announcements and confirmations. First byte: with a roster or without; then changes to what
// agent 1 announces, and to what it confirms.

#include "support.hpp"
#include "trust/handshake.hpp"

using namespace sotto;

namespace {

Credentials credentials_of(int agent) {
    Credentials credentials;
    std::string roster;
    for (int u = 0; u < 2; ++u) {
        Identity identity = Identity::generate();
        roster += to_hex(identity.public_key()) + " agent" + std::to_string(u) + "\n";
        if (u == agent) credentials.identities.push_back(std::move(identity));
    }
    credentials.roster = Roster::parse(roster, "roster");
    return credentials;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    // The same two identities, one secret on either side.
    static const Credentials own_credentials = credentials_of(0);
    fuzz::restart_randomness();
    static const Credentials peer_credentials = credentials_of(1);
    fuzz::restart_randomness();

    fuzz::Changes changes(data, size);
    const bool roster = changes.byte() % 2 == 0;
    const HandshakeTerms terms{2, Digest{1}, Digest{2}, Digest{3}};
    Handshake own(terms, std::vector<int>{0}, roster ? &own_credentials : nullptr);
    Handshake peer(terms, std::vector<int>{1}, roster ? &peer_credentials : nullptr);
    const std::vector<std::string> announced{own.announcement(), peer.announcement()};
    peer.receive(announced);

    const std::vector<std::string> arrived{announced[0], changes.apply(announced[1])};
    if (!fuzz::accepts([&] { own.receive(arrived); })) return 0;
    const std::vector<std::string> confirmed{own.confirmation(),
                                             changes.apply(peer.confirmation())};
    std::optional<Session> session;
    if (!fuzz::accepts([&] { session = own.finish(confirmed); })) return 0;
    // Nothing that was changed is believed: the transcript has all of it.
    fuzz::require(arrived == announced && confirmed[1] == peer.confirmation());
    fuzz::require(session->authenticated() == roster);
    return 0;
}
