#include "agent/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

namespace {

constexpr std::string_view magic = "sottockp";
constexpr std::uint32_t format_version = 8;
constexpr std::uint32_t first_without_seeds = 3;

Digest file_digest(std::span<const std::string_view> parts) {
    Hasher hasher("sotto.checkpoint.v1");
    hasher.add(parts);
    return hasher.finish();
}

std::string_view bytes_of(const Eigen::VectorXd& vector) {
    return {reinterpret_cast<const char*>(vector.data()),
            static_cast<std::size_t>(vector.size()) * sizeof(double)};
}

std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Eigen::VectorXd get_vector(ByteReader& reader) {
    const std::string_view bytes = reader.get_text();
    if (bytes.size() % sizeof(double) != 0) reader.fail();
    Eigen::VectorXd vector(static_cast<Eigen::Index>(bytes.size() / sizeof(double)));
    if (!bytes.empty()) std::memcpy(vector.data(), bytes.data(), bytes.size());
    return vector;
}

/// The fields in order; large vectors are not copied. @param own holds the rest.
std::vector<std::string_view> fields_of(const Checkpoint& checkpoint,
                                        std::deque<std::string>& own) {
    std::vector<std::string_view> parts;
    const auto add = [&](ByteWriter& writer) {
        parts.emplace_back(own.emplace_back(writer.take()));
    };
    ByteWriter writer;
    writer.put(checkpoint.run);
    writer.put(std::int32_t{checkpoint.agent});
    writer.put(std::int64_t{checkpoint.round});
    writer.put(std::int64_t{checkpoint.phase_round});
    writer.put(checkpoint.key_epoch);
    writer.put(checkpoint.batch_seed);
    writer.put(checkpoint.records);
    writer.put(checkpoint.data.key);
    writer.put(checkpoint.data.value);
    add(writer);
    for (const Eigen::VectorXd* vector : {&checkpoint.model,
                                          &checkpoint.velocity,
                                          &checkpoint.mean,
                                          &checkpoint.anchor,
                                          &checkpoint.moments,
                                          &checkpoint.carried,
                                          &checkpoint.direction}) {
        const std::string_view bytes = bytes_of(*vector);
        ByteWriter size;
        size.put(static_cast<std::uint64_t>(bytes.size()));
        add(size);
        parts.push_back(bytes);
    }
    ByteWriter options;
    options.put_text(checkpoint.revealed);
    for (const auto& [name, value] : checkpoint.own_options) {
        options.put_text(name);
        options.put_text(value);
    }
    add(options);
    return parts;
}

/// Beginning of the file.
std::string checkpoint_head() {
    std::string head(magic);
    return head.append(reinterpret_cast<const char*>(&format_version), sizeof format_version);
}

/// Of the size of the model, or empty.
bool fits(const Eigen::VectorXd& vector, const Eigen::VectorXd& model) {
    return vector.size() == 0 || vector.size() == model.size();
}

/// @throws NetworkError for malformed bytes.
Checkpoint checkpoint_from(std::string_view bytes) {
    ByteReader body(bytes, "a checkpoint");
    Checkpoint checkpoint;
    checkpoint.run = body.get<Digest>();
    checkpoint.agent = body.get<std::int32_t>();
    checkpoint.round = body.get<std::int64_t>();
    checkpoint.phase_round = body.get<std::int64_t>();
    checkpoint.key_epoch = body.get<std::uint32_t>();
    checkpoint.batch_seed = body.get<std::uint64_t>();
    checkpoint.records = body.get<std::int64_t>();
    checkpoint.data.key = body.get<Digest>();
    checkpoint.data.value = body.get<Digest>();
    checkpoint.model = get_vector(body);
    checkpoint.velocity = get_vector(body);
    checkpoint.mean = get_vector(body);
    checkpoint.anchor = get_vector(body);
    checkpoint.moments = get_vector(body);
    checkpoint.carried = get_vector(body);
    checkpoint.direction = get_vector(body);
    checkpoint.revealed = body.get_text();
    while (!body.done()) {
        const std::string name(body.get_text());
        const auto& options = checkpoint.own_options;
        if (!options.empty() && name <= options.rbegin()->first) body.fail();
        checkpoint.own_options[name] = body.get_text();
    }
    if (checkpoint.agent < 0 || checkpoint.round < checkpoint.phase_round ||
        checkpoint.phase_round < 0 || checkpoint.records < 0 ||
        (checkpoint.round > 0) != (checkpoint.model.size() > 0) ||
        !fits(checkpoint.velocity, checkpoint.model) || !fits(checkpoint.mean, checkpoint.model) ||
        !fits(checkpoint.anchor, checkpoint.model) || !fits(checkpoint.moments, checkpoint.model) ||
        !fits(checkpoint.carried, checkpoint.model) ||
        !fits(checkpoint.direction, checkpoint.model))
        body.fail();
    return checkpoint;
}

}  // namespace

Digest digest_of(const Checkpoint& checkpoint) {
    std::deque<std::string> own;
    Hasher hasher("sotto.checkpoint-content.v1");
    hasher.add(fields_of(checkpoint, own));
    return hasher.finish();
}

CheckpointBytes::CheckpointBytes(const Checkpoint& checkpoint) {
    parts_.emplace_back(own_.emplace_back(checkpoint_head()));
    const auto fields = fields_of(checkpoint, own_);
    parts_.insert(parts_.end(), fields.begin(), fields.end());
    digest_ = file_digest(parts_);
    parts_.push_back(bytes_of(digest_));
}

std::string CheckpointBytes::text() const {
    std::string bytes;
    for (const std::string_view part : parts_) bytes += part;
    return bytes;
}

StoredCheckpoint checkpoint_from_bytes(std::string_view bytes, const std::string& source) {
    const auto damaged = [&](const std::string& reason) {
        return DataError(fmt::format("checkpoint {}: {}", source, reason));
    };
    StoredCheckpoint stored;
    const std::size_t head = magic.size() + sizeof(std::uint32_t);
    if (bytes.size() < head + stored.digest.size() || !bytes.starts_with(magic))
        throw damaged("it is not a checkpoint, or it is cut short");
    std::uint32_t found = 0;
    std::memcpy(&found, bytes.data() + magic.size(), sizeof found);
    if (found != format_version)
        throw damaged(fmt::format(
            "it has version {} (allowed: {}); resume with the version of sotto that wrote it{}",
            found,
            format_version,
            found < first_without_seeds
                ? ", and remove its checkpoints when the run is complete: they "
                  "hold the agent's seeds, sealed for its identity"
                : ""));
    const std::string_view content = bytes.substr(0, bytes.size() - stored.digest.size());
    std::memcpy(stored.digest.data(), bytes.data() + content.size(), stored.digest.size());
    if (file_digest(std::span(&content, 1)) != stored.digest) throw damaged("it is damaged");
    try {
        stored.checkpoint = checkpoint_from(content.substr(head));
    } catch (const NetworkError&) {
        throw damaged("its content is not that of a checkpoint");
    }
    return stored;
}

std::string seal_copy(const Identity& identity, int agent, const CheckpointCopy& copy) {
    ByteWriter writer;
    writer.put(std::int32_t{agent});
    writer.put(std::int32_t{copy.phase});
    writer.put(std::int64_t{copy.until});
    writer.put_text(copy.revealed);
    writer.put_text(copy.checkpoint);
    const std::string content = writer.take();
    return seal(identity.storage_key(),
                SealPurpose::checkpoint_copy,
                agent,
                agent,
                {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

CheckpointCopy open_copy(const Identity& identity, int agent, std::string_view sealed) {
    const SecretBytes content =
        open_sealed(identity.storage_key(), SealPurpose::checkpoint_copy, agent, agent, sealed);
    const auto bytes = content.span();
    ByteReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                      "the copy of agent " + std::to_string(agent) + "'s checkpoint");
    if (reader.get<std::int32_t>() != agent)
        throw CryptoError("agent " + std::to_string(agent) +
                          ": the copy is of another agent's checkpoint");
    CheckpointCopy copy;
    copy.phase = reader.get<std::int32_t>();
    copy.until = reader.get<std::int64_t>();
    copy.revealed = reader.get_text();
    copy.checkpoint = reader.get_text();
    reader.require_done();
    return copy;
}

namespace {

constexpr std::string_view seeds_magic = "sottosds";
constexpr std::uint32_t seeds_version = 1;
constexpr std::size_t seed_entry = sizeof(std::int32_t) + SecretKey::size;
constexpr std::int32_t coins_entry = -1;  // in place of a group's number

/// What sealed seeds are bound to.
Digest binding(const Checkpoint& checkpoint, const Digest& plan) {
    Hasher hasher("sotto.saved-seeds.v2");
    hasher.add_bytes(digest_of(checkpoint));
    hasher.add_bytes(plan);
    return hasher.finish();
}

std::string file_head() {
    std::string head(seeds_magic);
    head.append(reinterpret_cast<const char*>(&seeds_version), sizeof seeds_version);
    return head;
}

}  // namespace

std::string seal_seeds_for(const Identity& identity,
                           const KeyRing& ring,
                           const Checkpoint& checkpoint,
                           const Digest& plan) {
    const auto groups = ring.groups();
    const Digest bound = binding(checkpoint, plan);
    const std::size_t entries = groups.size() + (ring.holds_coins() ? 1 : 0);
    SecretBytes content(bound.size() + entries * seed_entry);
    auto out = std::ranges::copy(bound, content.span().begin()).out;
    const auto put = [&](std::int32_t number, const SecretKey& key) {
        std::memcpy(&*out, &number, sizeof number);
        out = std::ranges::copy(key.bytes(), out + sizeof number).out;
    };
    for (const int group : groups) put(group, ring.seed(group));
    if (ring.holds_coins()) put(coins_entry, ring.coins());
    return seal(identity.storage_key(),
                SealPurpose::saved_seeds,
                checkpoint.agent,
                checkpoint.agent,
                content.span());
}

KeyRing open_seeds_of(const Identity& identity,
                      std::string_view sealed,
                      const Checkpoint& checkpoint,
                      const Digest& plan,
                      int place) {
    const SecretBytes content = open_sealed(identity.storage_key(),
                                            SealPurpose::saved_seeds,
                                            checkpoint.agent,
                                            checkpoint.agent,
                                            sealed);
    const auto bytes = content.span();
    const Digest bound = binding(checkpoint, plan);
    if (bytes.size() < bound.size() || (bytes.size() - bound.size()) % seed_entry != 0 ||
        !std::ranges::equal(bytes.first(bound.size()), bound))
        throw CryptoError(fmt::format(
            "agent {}: the saved seeds belong to another checkpoint or plan", checkpoint.agent));
    KeyRing ring(place);
    for (std::size_t at = bound.size(); at < bytes.size(); at += seed_entry) {
        std::int32_t group = 0;
        std::memcpy(&group, bytes.data() + at, sizeof group);
        auto key = SecretKey::from_bytes(bytes.subspan(at + sizeof group, SecretKey::size));
        if (group == coins_entry)
            ring.add_coins(std::move(key));
        else
            ring.add(group, std::move(key));
    }
    return ring;
}

std::string saved_seeds_bytes(std::string_view sealed) { return file_head().append(sealed); }

std::string sealed_seeds_from(std::string bytes, const std::string& source) {
    const std::string head = file_head();
    if (!bytes.starts_with(head))
        throw DataError(
            fmt::format("saved seeds {}: the file does not hold saved seeds, or holds those of "
                        "another version (allowed: {})",
                        source,
                        seeds_version));
    bytes.erase(0, head.size());
    return bytes;
}

}  // namespace sotto
