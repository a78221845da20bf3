#include "dealt_seeds.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// Groups whose seeds go from one agent (first) to another, of different processes.
using Parcels = std::map<std::pair<int, int>, std::vector<int>>;

class Dealing {
  public:
    Dealing(const NoisePlan& plan, Session& session, std::span<const int> local_agents)
        : plan_(plan), session_(session), local_agents_(local_agents) {}

    /// Draws the seeds that agents of this process deal. @return those for others, sealed.
    std::string deal(std::span<const int> groups);
    /// Takes what another process dealt. @throws CryptoError, NetworkError.
    void take(std::string_view dealt);
    /// Of the agents here, once all processes have dealt. @throws CryptoError if one is missing.
    std::vector<LocalSeed> finish();

  private:
    void add(std::size_t place, int group, const SecretKey& drawn) {
        seeds_.push_back({place, group, group_seed(drawn, session_.transcript, group)});
    }
    void open_parcel(int dealer, int member, std::string_view sealed);

    const NoisePlan& plan_;
    Session& session_;
    std::span<const int> local_agents_;
    Parcels expected_;
    std::vector<LocalSeed> seeds_;
};

std::string Dealing::deal(std::span<const int> groups) {
    Parcels outgoing;
    std::map<int, SecretKey> drawn;
    for (const int group : groups) {
        const auto& members = plan_.groups[static_cast<std::size_t>(group)].members;
        const int dealer = members.front();
        const auto dealer_place = place_of(local_agents_, dealer);
        if (dealer_place) drawn.emplace(group, SecretKey::random());
        for (const int member : members) {
            const auto member_place = place_of(local_agents_, member);
            if (dealer_place && member_place)
                add(*member_place, group, drawn.at(group));
            else if (dealer_place)
                outgoing[{dealer, member}].push_back(group);
            else if (member_place)
                expected_[{dealer, member}].push_back(group);
        }
    }
    ByteWriter writer;
    for (const auto& [ends, of_groups] : outgoing) {
        const auto [dealer, member] = ends;
        const SecretKey& secret = session_.secrets[*place_of(local_agents_, dealer)].with(member);
        writer.put(std::int32_t{dealer});
        writer.put(std::int32_t{member});
        writer.put_text(seal_seeds(secret, dealer, member, of_groups, drawn));
    }
    return writer.take();
}

void Dealing::take(std::string_view dealt) {
    ByteReader reader(dealt, "its end");
    while (!reader.done()) {
        const auto dealer = reader.get<std::int32_t>();
        const auto member = reader.get<std::int32_t>();
        open_parcel(dealer, member, reader.get_text());
    }
}

void Dealing::open_parcel(int dealer, int member, std::string_view sealed) {
    const auto place = place_of(local_agents_, member);
    if (!place) return;  // for another process
    const auto wanted = expected_.find({dealer, member});
    if (wanted == expected_.end())
        throw CryptoError(fmt::format(
            "agent {} has seeds of agent {} that the plan does not give it, or gave it already",
            member,
            dealer));
    const std::vector<int>& groups = wanted->second;
    const auto drawn =
        open_seeds(session_.secrets[*place].with(dealer), dealer, member, groups, sealed);
    for (std::size_t i = 0; i < drawn.size(); ++i) add(*place, groups[i], drawn[i]);
    expected_.erase(wanted);
}

std::vector<LocalSeed> Dealing::finish() {
    if (!expected_.empty()) {
        const auto& [ends, groups] = *expected_.begin();
        throw CryptoError(fmt::format("agent {} did not send agent {} the seed of group {}",
                                      ends.first,
                                      ends.second,
                                      groups.front()));
    }
    return std::move(seeds_);
}

/// What one process can send, if it deals all of these groups, each member's seeds one by one.
std::uint64_t largest_deal_bytes(const NoisePlan& plan, std::span<const int> groups) {
    constexpr std::uint64_t parcel_bytes = 256;  // ends, length, nonce, group, seed, tag
    std::uint64_t members = 0;
    for (const int group : groups)
        members += plan.groups[static_cast<std::size_t>(group)].members.size();
    return parcel_bytes * members;
}

}  // namespace

std::vector<LocalSeed> deal_seeds(Network& network,
                                  const NoisePlan& plan,
                                  Session& session,
                                  std::span<const int> groups) {
    Dealing dealing(plan, session, network.local_agents());
    std::string own;
    network.agree([&] { own = dealing.deal(groups); });
    const auto dealt = network.all_gather(own, largest_deal_bytes(plan, groups));
    std::vector<LocalSeed> seeds;
    network.agree([&] {
        for (std::size_t p = 0; p < dealt.size(); ++p)
            if (static_cast<int>(p) != network.process())
                take_from(p, [&] { dealing.take(dealt[p]); });
        seeds = dealing.finish();
    });
    return seeds;
}

}  // namespace sotto
