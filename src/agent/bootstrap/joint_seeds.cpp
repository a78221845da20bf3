#include "joint_seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/trust/sealed_message.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// The shares of all agents, one after the other.
class Shares {
  public:
    explicit Shares(const Session& session)
        : bytes_(session.announcements.size() * SecretKey::size) {
        for (const Announcement& agent : session.announcements)
            commitments_.push_back(agent.share_commitment);
        given_.resize(commitments_.size());
    }
    /// Of one agent.
    void put(int agent, std::span<const std::uint8_t> share) {
        bool& given = given_.at(static_cast<std::size_t>(agent));
        if (std::exchange(given, true))
            throw CryptoError(fmt::format("the share of agent {} came twice", agent));
        if (share.size() != SecretKey::size)
            throw CryptoError(fmt::format("the share of agent {} has {} bytes; it must have {}",
                                          agent,
                                          share.size(),
                                          SecretKey::size));
        std::ranges::copy(
            share, bytes_.span().begin() + static_cast<std::ptrdiff_t>(agent) * SecretKey::size);
    }
    /// Of all agents. @throws CryptoError unless they are what was committed to.
    void put_all(std::span<const std::uint8_t> shares) {
        check_shares(shares, commitments_);
        std::ranges::copy(shares, bytes_.span().begin());
    }
    void check() const { check_shares(bytes(), commitments_); }
    [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_.span(); }

  private:
    SecretBytes bytes_;
    std::vector<Digest> commitments_;
    std::deque<bool> given_;
};

/// What agent 0 needs of the agents of this process; from its own process their numbers only.
std::string shares_for_agent_0(Session& session, std::span<const int> local_agents, bool leader) {
    ByteWriter writer;
    for (std::size_t a = 0; a < local_agents.size(); ++a) {
        writer.put(std::int32_t{local_agents[a]});
        writer.put_text(leader ? std::string()
                               : seal(session.secrets[a].with(0),
                                      SealPurpose::share,
                                      local_agents[a],
                                      0,
                                      session.shares[a].bytes()));
    }
    return writer.take();
}

/// Bytes that shares of this many agents have, each or all of them sealed.
std::uint64_t largest_shares_bytes(std::uint64_t agents) {
    constexpr std::uint64_t sealed_share_bytes = 128;  // number, length, nonce, share, tag
    return sealed_share_bytes * (agents + 1);
}

/// Opens the shares of another process. @return one agent of it; -1 if it has none.
int take_shares(std::string_view sent, PairSecrets& secrets, Shares& shares) {
    int recipient = -1;
    ByteReader reader(sent, "its end");
    while (!reader.done()) {
        const auto agent = reader.get<std::int32_t>();
        const std::string_view sealed = reader.get_text();
        shares.put(agent,
                   open_sealed(secrets.with(agent), SealPurpose::share, agent, 0, sealed).span());
        if (recipient < 0) recipient = agent;
    }
    return recipient;
}

/// On process 0: collects all shares, and seals them for one agent of every other process.
std::vector<std::string> parcels_of_all(Session& session,
                                        std::span<const int> local_agents,
                                        std::span<const std::string> sent,
                                        Shares& shares) {
    for (std::size_t a = 0; a < local_agents.size(); ++a)
        shares.put(local_agents[a], session.shares[a].bytes());
    PairSecrets& secrets = session.secrets.front();
    std::vector<int> recipients(sent.size(), -1);
    for (std::size_t p = 1; p < sent.size(); ++p)
        take_from(p, [&] { recipients[p] = take_shares(sent[p], secrets, shares); });
    shares.check();
    std::vector<std::string> parcels(sent.size());
    for (std::size_t p = 1; p < sent.size(); ++p)
        if (recipients[p] >= 0)
            parcels[p] = seal(secrets.with(recipients[p]),
                              SealPurpose::all_shares,
                              0,
                              recipients[p],
                              shares.bytes());
    return parcels;
}

}  // namespace

std::vector<LocalSeed> draw_joint_seeds(Network& network,
                                        Session& session,
                                        std::span<const int> groups) {
    const bool leader = network.process() == 0;
    const std::span<const int> local_agents = network.local_agents();
    std::string own;
    network.agree([&] { own = shares_for_agent_0(session, local_agents, leader); });
    const auto sent =
        network.all_gather(own, largest_shares_bytes(network.most_agents_of_a_process()));
    Shares shares(session);
    std::vector<std::string> parcels(sent.size());
    network.agree([&] {
        if (leader) parcels = parcels_of_all(session, local_agents, sent, shares);
    });
    const std::string parcel = network.scatter(
        parcels, largest_shares_bytes(static_cast<std::uint64_t>(network.agents())));
    std::vector<LocalSeed> seeds;
    network.agree([&] {
        if (!leader)
            shares.put_all(open_sealed(session.secrets.front().with(0),
                                       SealPurpose::all_shares,
                                       0,
                                       local_agents.front(),
                                       parcel)
                               .span());
        const SecretKey drawn = drawn_by_everybody(shares.bytes());
        for (const int group : groups)
            for (std::size_t a = 0; a < local_agents.size(); ++a)
                seeds.push_back({a, group, group_seed(drawn, session.transcript, group)});
    });
    return seeds;
}

}  // namespace sotto
