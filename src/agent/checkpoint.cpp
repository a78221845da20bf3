#include "sotto/agent/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/trust/sealed_message.hpp"

namespace sotto {

namespace {

constexpr std::string_view magic = "sottockp";
constexpr std::uint32_t version_without_options = 1, version_with_options = 2;
constexpr std::size_t seed_entry = sizeof(std::int32_t) + SecretKey::size;

Digest digest_of(std::string_view bytes) {
    Hasher hasher("sotto.checkpoint.v1");
    hasher.add(bytes);
    return hasher.finish();
}

void put_vector(ByteWriter& writer, const Eigen::VectorXd& vector) {
    writer.put_text({reinterpret_cast<const char*>(vector.data()),
                     static_cast<std::size_t>(vector.size()) * sizeof(double)});
}

Eigen::VectorXd get_vector(ByteReader& reader) {
    const std::string_view bytes = reader.get_text();
    if (bytes.size() % sizeof(double) != 0) reader.fail();
    Eigen::VectorXd vector(static_cast<Eigen::Index>(bytes.size() / sizeof(double)));
    if (!bytes.empty()) std::memcpy(vector.data(), bytes.data(), bytes.size());
    return vector;
}

std::uint32_t version_of(const Checkpoint& checkpoint) {
    return checkpoint.own_options ? version_with_options : version_without_options;
}

/// Everything but the seeds.
std::string body_of(const Checkpoint& checkpoint) {
    ByteWriter writer;
    writer.put(checkpoint.run);
    writer.put(std::int32_t{checkpoint.agent});
    writer.put(std::int64_t{checkpoint.round});
    writer.put(std::int64_t{checkpoint.phase_round});
    writer.put(checkpoint.key_epoch);
    writer.put(checkpoint.batch_seed);
    writer.put(checkpoint.records);
    put_vector(writer, checkpoint.model);
    put_vector(writer, checkpoint.spent);
    if (checkpoint.own_options)
        for (const auto& [name, value] : *checkpoint.own_options) {
            writer.put_text(name);
            writer.put_text(value);
        }
    return writer.take();
}

/// What sealed seeds begin with.
Digest binding(const Checkpoint& checkpoint, const Digest& plan) {
    Hasher hasher("sotto.saved-seeds.v1");
    hasher.add(body_of(checkpoint));
    hasher.add_bytes(plan);
    return hasher.finish();
}

}  // namespace

Digest write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
    ByteWriter writer;
    writer.put_text(body_of(checkpoint));
    writer.put_text(checkpoint.seeds);
    std::string bytes(magic);
    const std::uint32_t version = version_of(checkpoint);
    bytes.append(reinterpret_cast<const char*>(&version), sizeof version);
    bytes += writer.take();
    const Digest digest = digest_of(bytes);
    bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    write_file_atomically(path, bytes);
    return digest;
}

StoredCheckpoint read_checkpoint(const std::filesystem::path& path) {
    const std::string bytes = read_file(path, most_array_bytes());
    const auto damaged = [&](const std::string& reason) {
        return DataError(fmt::format("checkpoint {}: {}", path.string(), reason));
    };
    StoredCheckpoint stored;
    const std::size_t head = magic.size() + sizeof(std::uint32_t);
    if (bytes.size() < head + stored.digest.size() || !bytes.starts_with(magic))
        throw damaged("it is no checkpoint, or cut short");
    std::uint32_t found = 0;
    std::memcpy(&found, bytes.data() + magic.size(), sizeof found);
    if (found < version_without_options || found > version_with_options)
        throw damaged(fmt::format("it has version {}; this sotto reads {} to {}",
                                  found,
                                  version_without_options,
                                  version_with_options));
    const std::string_view content =
        std::string_view(bytes).substr(0, bytes.size() - stored.digest.size());
    std::memcpy(stored.digest.data(), bytes.data() + content.size(), stored.digest.size());
    if (digest_of(content) != stored.digest) throw damaged("it is damaged");
    try {
        ByteReader parts(content.substr(head), "a checkpoint");
        ByteReader body(parts.get_text(), "a checkpoint");
        Checkpoint& checkpoint = stored.checkpoint;
        checkpoint.run = body.get<Digest>();
        checkpoint.agent = body.get<std::int32_t>();
        checkpoint.round = body.get<std::int64_t>();
        checkpoint.phase_round = body.get<std::int64_t>();
        checkpoint.key_epoch = body.get<std::uint32_t>();
        checkpoint.batch_seed = body.get<std::uint64_t>();
        checkpoint.records = body.get<std::int64_t>();
        checkpoint.model = get_vector(body);
        checkpoint.spent = get_vector(body);
        if (found == version_with_options)
            for (auto& options = checkpoint.own_options.emplace(); !body.done();) {
                const std::string name(body.get_text());
                options[name] = body.get_text();
            }
        body.require_done();
        checkpoint.seeds = parts.get_text();
        parts.require_done();
        if (checkpoint.agent < 0 || checkpoint.round < checkpoint.phase_round ||
            checkpoint.phase_round < 0)
            parts.fail();
    } catch (const NetworkError&) {
        throw damaged("its content is not that of a checkpoint");
    }
    return stored;
}

std::string seal_seeds_for(const Identity& identity,
                           const KeyRing& ring,
                           const Checkpoint& checkpoint,
                           const Digest& plan) {
    const auto groups = ring.groups();
    const Digest bound = binding(checkpoint, plan);
    SecretBytes content(bound.size() + groups.size() * seed_entry);
    auto out = std::ranges::copy(bound, content.span().begin()).out;
    for (const int group : groups) {
        const auto number = static_cast<std::int32_t>(group);
        std::memcpy(&*out, &number, sizeof number);
        out = std::ranges::copy(ring.seed(group).bytes(), out + sizeof number).out;
    }
    return seal(identity.storage_key(),
                SealPurpose::saved_seeds,
                checkpoint.agent,
                checkpoint.agent,
                content.span());
}

KeyRing open_seeds_of(const Identity& identity,
                      const Checkpoint& checkpoint,
                      const Digest& plan,
                      int place) {
    const SecretBytes content = open_sealed(identity.storage_key(),
                                            SealPurpose::saved_seeds,
                                            checkpoint.agent,
                                            checkpoint.agent,
                                            checkpoint.seeds);
    const auto bytes = content.span();
    const Digest bound = binding(checkpoint, plan);
    if (bytes.size() < bound.size() || (bytes.size() - bound.size()) % seed_entry != 0 ||
        !std::ranges::equal(bytes.first(bound.size()), bound))
        throw CryptoError(fmt::format(
            "agent {}: the seeds of its checkpoint belong to another checkpoint or plan",
            checkpoint.agent));
    KeyRing ring(place);
    for (std::size_t at = bound.size(); at < bytes.size(); at += seed_entry) {
        std::int32_t group = 0;
        std::memcpy(&group, bytes.data() + at, sizeof group);
        ring.add(group, SecretKey::from_bytes(bytes.subspan(at + sizeof group, SecretKey::size)));
    }
    return ring;
}

}  // namespace sotto
