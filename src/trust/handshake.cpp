#include "trust/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <map>

#include "core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

EphemeralKeyPair::EphemeralKeyPair() : secret_(SecretKey::random()) {
    static_assert(crypto_box_SECRETKEYBYTES == SecretKey::size && crypto_box_PUBLICKEYBYTES == 32);
    if (crypto_scalarmult_base(public_.data(), secret_.bytes().data()) != 0)
        throw CryptoError("cannot make an X25519 key pair");
}

namespace {

/// Changes whenever the bytes or the meaning of a message change.
constexpr std::string_view protocol = "sotto.handshake.v2";

struct ProcessAnnouncement {
    std::optional<Digest> roster;
    std::vector<Announcement> agents;
};

template <class Bytes>
void put_optional(ByteWriter& writer, const std::optional<Bytes>& value) {
    writer.put(static_cast<std::uint8_t>(value.has_value()));
    writer.put(value.value_or(Bytes{}));
}

template <class Bytes>
std::optional<Bytes> get_optional(ByteReader& reader) {
    const auto present = reader.get<std::uint8_t>();
    const auto value = reader.get<Bytes>();
    if (present > 1 || (present == 0 && value != Bytes{})) reader.fail();
    return present == 1 ? std::optional(value) : std::nullopt;
}

constexpr std::size_t announcement_size = 4 + 32 + 1 + 32 + 32 + 32;

ProcessAnnouncement decode(std::string_view bytes, std::size_t process) {
    ByteReader reader(bytes, fmt::format("the announcement of rank {}", process));
    if (reader.get_text() != protocol)
        throw NetworkError(fmt::format(
            "rank {} speaks another protocol than {}; start the same sotto on all ranks",
            process,
            protocol));
    ProcessAnnouncement result;
    result.roster = get_optional<Digest>(reader);
    result.agents.resize(reader.get_count(announcement_size));
    for (Announcement& agent : result.agents) {
        agent.agent = reader.get<std::int32_t>();
        agent.ephemeral = reader.get<PublicKey>();
        agent.identity = get_optional<IdentityKey>(reader);
        agent.nonce = reader.get<Digest>();
        agent.share_commitment = reader.get<Digest>();
    }
    reader.require_done();
    return result;
}

/// What an identity signs.
Digest statement(const Digest& transcript, int agent) {
    Hasher hasher("sotto.handshake-signature.v1");
    return hasher.add_bytes(transcript).add(std::int64_t{agent}).finish();
}

Digest random_bytes() {
    Digest bytes{};
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

Digest run_id_of(std::span<const Announcement> all) {
    Hasher hasher("sotto.run-id.v1");
    for (const Announcement& agent : all) hasher.add_bytes(agent.nonce);
    return hasher.finish();
}

Digest transcript_of(const HandshakeTerms& terms,
                     const std::optional<Digest>& roster,
                     const Digest& run_id,
                     std::span<const Announcement> all) {
    Hasher hasher("sotto.transcript.v2");
    hasher.add(protocol).add_bytes(run_id);
    hasher.add(std::int64_t{roster.has_value()}).add_bytes(roster.value_or(Digest{}));
    hasher.add_bytes(terms.graph).add_bytes(terms.mixing).add_bytes(terms.plan);
    hasher.add_bytes(terms.options);
    hasher.add(static_cast<std::int64_t>(all.size()));
    for (const Announcement& agent : all) {
        hasher.add(std::int64_t{agent.agent}).add_bytes(agent.ephemeral);
        hasher.add(std::int64_t{agent.identity.has_value()});
        hasher.add_bytes(agent.identity.value_or(IdentityKey{}));
        hasher.add_bytes(agent.nonce).add_bytes(agent.share_commitment);
    }
    return hasher.finish();
}

std::string text_of(const std::optional<Digest>& roster) {
    return roster ? "the roster " + to_hex(*roster).substr(0, 16) : "no roster";
}

}  // namespace

std::string Session::authentication() const {
    return roster ? "roster " + to_hex(*roster) : "unauthenticated";
}

Digest commitment_to_share(int agent, std::span<const std::uint8_t> share) {
    Hasher hasher("sotto.share-commitment.v1");
    return hasher.add(std::int64_t{agent}).add_bytes(share).finish();
}

Handshake::Handshake(const HandshakeTerms& terms,
                     std::span<const int> local_agents,
                     const Credentials* credentials)
    : terms_(terms),
      local_agents_(local_agents.begin(), local_agents.end()),
      credentials_(credentials) {
    ensure_sodium();
    if (credentials_ != nullptr) {
        if (credentials_->identities.size() != local_agents_.size())
            throw CryptoError(fmt::format("{} identities for {} agents of one process",
                                          credentials_->identities.size(),
                                          local_agents_.size()));
        roster_ = credentials_->roster.digest();
    }
    for (std::size_t a = 0; a < local_agents_.size(); ++a) {
        Announcement& own = own_.emplace_back();
        own.agent = local_agents_[a];
        const auto key = pairs_.emplace_back().public_key();
        std::copy(key.begin(), key.end(), own.ephemeral.begin());
        if (credentials_ != nullptr) own.identity = credentials_->identities[a].public_key();
        own.nonce = random_bytes();
        own.share_commitment =
            commitment_to_share(own.agent, shares_.emplace_back(SecretKey::random()).bytes());
    }
}

std::uint64_t Handshake::announcement_bytes(std::uint64_t agents) {
    constexpr std::uint64_t name_of_another_protocol = 64;
    return 2 * sizeof(std::uint64_t) + name_of_another_protocol + 1 + sizeof(Digest) +
           agents * announcement_size;
}

std::uint64_t Handshake::confirmation_bytes(std::uint64_t agents) {
    return sizeof(Digest) + agents * sizeof(Signature);
}

std::string Handshake::announcement() const {
    ByteWriter writer;
    writer.put_text(protocol);
    put_optional(writer, roster_);
    writer.put(static_cast<std::uint64_t>(own_.size()));
    for (const Announcement& own : own_) {
        writer.put(std::int32_t{own.agent});
        writer.put(own.ephemeral);
        put_optional(writer, own.identity);
        writer.put(own.nonce);
        writer.put(own.share_commitment);
    }
    return writer.take();
}

void Handshake::receive(std::span<const std::string> from_processes) {
    const auto agents = static_cast<std::size_t>(terms_.agents);
    std::vector<std::optional<std::size_t>> process_of(agents);
    all_.assign(agents, {});
    agents_of_.assign(from_processes.size(), {});
    for (std::size_t p = 0; p < from_processes.size(); ++p) {
        const ProcessAnnouncement announced = decode(from_processes[p], p);
        if (announced.roster != roster_)
            throw CryptoError(
                fmt::format("rank {} was started with {}, another rank with {}; give all ranks the "
                            "same --roster",
                            p,
                            text_of(announced.roster),
                            text_of(roster_)));
        for (const Announcement& agent : announced.agents) {
            if (agent.agent < 0 || agent.agent >= terms_.agents)
                throw CryptoError(
                    fmt::format("rank {} announced agent {}, which does not exist (allowed: 0 to "
                                "{})",
                                p,
                                agent.agent,
                                terms_.agents - 1));
            const auto place = static_cast<std::size_t>(agent.agent);
            if (process_of[place])
                throw CryptoError(fmt::format(
                    "ranks {} and {} both announced agent {}", *process_of[place], p, agent.agent));
            process_of[place] = p;
            all_[place] = agent;
            agents_of_[p].push_back(agent.agent);
        }
    }
    for (std::size_t u = 0; u < agents; ++u)
        if (!process_of[u]) throw CryptoError(fmt::format("no rank announced agent {}", u));
    for (const Announcement& own : own_)
        if (all_[static_cast<std::size_t>(own.agent)].nonce != own.nonce ||
            all_[static_cast<std::size_t>(own.agent)].ephemeral != own.ephemeral)
            throw CryptoError(fmt::format(
                "agent {} received another announcement of itself than it sent", own.agent));
    check_roster();
    run_id_ = run_id_of(all_);
    transcript_ = transcript_of(terms_, roster_, run_id_, all_);
}

std::string Handshake::name_of(int agent) const {
    const auto& identity = all_[static_cast<std::size_t>(agent)].identity;
    if (!identity) return "none";
    const Roster::Entry* entry = credentials_->roster.find(*identity);
    return entry == nullptr ? to_hex(*identity)
                            : fmt::format("{} ({})", entry->name, to_hex(*identity));
}

void Handshake::check_roster() const {
    if (credentials_ == nullptr) {
        for (const Announcement& agent : all_)
            if (agent.identity)
                throw CryptoError(
                    fmt::format("agent {} shows an identity ({}), but there is no roster",
                                agent.agent,
                                to_hex(*agent.identity)));
        return;
    }
    std::map<IdentityKey, int> agent_of;
    for (const Announcement& agent : all_) {
        if (!agent.identity)
            throw CryptoError(fmt::format(
                "agent {} has no identity; with a roster every agent needs one (--identity)",
                agent.agent));
        if (credentials_->roster.find(*agent.identity) == nullptr)
            throw CryptoError(fmt::format("agent {} is not in the roster: its identity is {}",
                                          agent.agent,
                                          name_of(agent.agent)));
        const auto [other, fresh] = agent_of.try_emplace(*agent.identity, agent.agent);
        if (!fresh)
            throw CryptoError(
                fmt::format("agents {} and {} have the same identity {}; every agent needs its own "
                            "(%r in --identity is the agent's number)",
                            other->second,
                            agent.agent,
                            name_of(agent.agent)));
    }
    for (const Roster::Entry& entry : credentials_->roster.entries())
        if (!agent_of.contains(entry.key))
            throw CryptoError(
                fmt::format("identity {} ({}) of the roster is missing: the roster has {} entries, "
                            "there are {} agents; it must have exactly one entry per agent",
                            entry.name,
                            to_hex(entry.key),
                            credentials_->roster.entries().size(),
                            terms_.agents));
}

std::string Handshake::confirmation() const {
    ByteWriter writer;
    writer.put(transcript_);
    if (credentials_ != nullptr)
        for (std::size_t a = 0; a < local_agents_.size(); ++a)
            writer.put(credentials_->identities[a].sign(statement(transcript_, local_agents_[a])));
    return writer.take();
}

Session Handshake::finish(std::span<const std::string> from_processes) const {
    if (from_processes.size() != agents_of_.size())
        throw NetworkError(
            fmt::format("{} confirmations of {} ranks", from_processes.size(), agents_of_.size()));
    for (std::size_t p = 0; p < from_processes.size(); ++p) {
        ByteReader reader(from_processes[p], fmt::format("the confirmation of rank {}", p));
        if (reader.get<Digest>() != transcript_)
            throw NetworkError(fmt::format(
                "rank {} saw another graph, mixing matrix, plan, option or announcement "
                "than other ranks; start the same program with the same options, and if "
                "that is so somebody changes messages",
                p));
        if (credentials_ != nullptr)
            for (const int agent : agents_of_[p]) {
                const auto signature = reader.get<Signature>();
                if (!signature_is_good(*all_[static_cast<std::size_t>(agent)].identity,
                                       statement(transcript_, agent),
                                       signature))
                    throw CryptoError(
                        fmt::format("agent {} did not prove that it is {}: its signature is wrong",
                                    agent,
                                    name_of(agent)));
            }
        reader.require_done();
    }
    Session session;
    session.run_id = run_id_;
    session.transcript = transcript_;
    session.roster = roster_;
    session.announcements = all_;
    const auto keys = std::make_shared<std::vector<PublicKey>>();
    keys->reserve(all_.size());
    for (const Announcement& agent : all_) keys->push_back(agent.ephemeral);
    for (std::size_t a = 0; a < local_agents_.size(); ++a) {
        session.secrets.emplace_back(
            local_agents_[a], transcript_, pairs_[a].secret_key().clone(), keys);
        session.shares.push_back(shares_[a].clone());
    }
    return session;
}

}  // namespace sotto
