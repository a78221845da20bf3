// What the other ranks send while seeds are made, to a member (rank 1) and to the leader (rank 0).
// First byte: which of the two.

#include <unordered_map>

#include "agent/bootstrap.hpp"
#include "core/bytes.hpp"
#include "support.hpp"
#include "trust/group_fixtures.hpp"
#include "trust/pair_fixtures.hpp"
#include "trust/seed_agreement.hpp"

using namespace sotto;

namespace {

constexpr int agents = 4;
constexpr int dealt = 10;  // the group of agents 0 to 2, in plan_of_all_groups

void put_sealed(ByteWriter& writer, int from, const std::string& sealed) {
    writer.put(std::int32_t{from});
    writer.put_text(sealed);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    fuzz::Changes changes(data, size);
    const int process = changes.byte() % 2;

    const NoisePlan plan = test::plan_of_all_groups(agents);
    auto secrets = test::pair_secrets(agents);
    std::vector<SecretKey> shares;
    std::vector<Announcement> announcements(agents);
    std::string all_shares;
    for (int u = 0; u < agents; ++u) {
        const auto place = static_cast<std::size_t>(u);
        const auto share = shares.emplace_back(SecretKey::random()).bytes();
        announcements[place].agent = u;
        announcements[place].share_commitment = commitment_to_share(u, share);
        all_shares.append(reinterpret_cast<const char*>(share.data()), share.size());
    }
    Session session;
    session.announcements = announcements;

    // What the others really send.
    std::vector<std::string> seeds(agents), sealed_shares(agents);
    std::map<int, SecretKey> drawn;
    drawn.emplace(dealt, SecretKey::random());
    ByteWriter dealer;
    for (const int member : {1, 2}) {
        dealer.put(std::int32_t{0});
        put_sealed(dealer,
                   member,
                   seal_seeds(secrets[0].with(member), 0, member, std::vector<int>{dealt}, drawn));
    }
    seeds[0] = dealer.take();
    for (int u = 1; u < agents; ++u) {
        ByteWriter writer;
        const auto place = static_cast<std::size_t>(u);
        put_sealed(writer,
                   u,
                   seal(secrets[place].with(0), SealPurpose::share, u, 0, shares[place].bytes()));
        sealed_shares[place] = writer.take();
    }
    const std::string parcel =
        seal(secrets[0].with(1),
             SealPurpose::all_shares,
             0,
             1,
             {reinterpret_cast<const std::uint8_t*>(all_shares.data()), all_shares.size()});

    const auto own = static_cast<std::size_t>(process);
    session.secrets.push_back(std::move(secrets[own]));
    session.shares.push_back(std::move(shares[own]));
    for (std::size_t p = 0; p < agents; ++p) {
        if (p == own) continue;
        seeds[p] = changes.apply(seeds[p]);
        sealed_shares[p] = changes.apply(sealed_shares[p]);
    }
    fuzz::ScriptedNetwork network(agents, process, changes.apply(parcel), [&](int call) {
        return call == 0 ? seeds : sealed_shares;
    });
    std::vector<KeyRing> rings;
    if (fuzz::accepts([&] { rings = distribute_seeds(network, plan, session); })) {
        fuzz::require(rings.size() == 1);
        for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group)
            fuzz::require(rings[0].holds(group) == test::is_member(plan, group, process));
    }
    return 0;
}
