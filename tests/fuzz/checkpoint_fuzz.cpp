// What a run is resumed from: an agent's checkpoint, the sealed seeds beside it, and rank 0's
// manifest of a checkpoint, as files or changed on the way. First byte: which of them.

#include <nlohmann/json.hpp>

#include "agent/checkpoint.hpp"
#include "core/json.hpp"
#include "store/checkpoint_store.hpp"
#include "support.hpp"

using namespace sotto;

namespace {

Checkpoint real_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.run.fill(3);
    checkpoint.agent = 2;
    checkpoint.round = 340;
    checkpoint.phase_round = 100;
    checkpoint.key_epoch = 1;
    checkpoint.batch_seed = 9;
    checkpoint.records = 60;
    checkpoint.model = Eigen::Vector3d(0.5, -1, 2);
    checkpoint.revealed = "{}\n";
    checkpoint.own_options = {{"clip-norm", "0.5"}, {"epsilon", "3"}};
    return checkpoint;
}

/// What is accepted is what its content is written as.
void read_bytes(const std::string& bytes) {
    StoredCheckpoint stored;
    if (!fuzz::accepts([&] { stored = checkpoint_from_bytes(bytes, "input"); })) return;
    fuzz::require(CheckpointBytes(stored.checkpoint).text() == bytes);
    const Checkpoint real = real_checkpoint();
    fuzz::require((bytes == CheckpointBytes(real).text()) ==
                  (digest_of(stored.checkpoint) == digest_of(real)));
}

/// The same with the digest that whoever changed the rest would write.
std::string with_digest(std::string bytes) {
    Hasher hasher("sotto.checkpoint.v1");
    hasher.add(bytes);
    const Digest digest = hasher.finish();
    return bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

/// Seeds open as they were sealed, or not at all.
void open_changed_seeds(fuzz::Changes& changes) {
    const Identity identity = Identity::generate();
    const Digest plan{};
    KeyRing ring(1);
    ring.add(4, SecretKey::random());
    const std::string original = std::string("sottosds\1\0\0\0", 12) +
                                 seal_seeds_for(identity, ring, real_checkpoint(), plan);
    const std::string bytes = changes.apply(original);
    if (fuzz::accepts([&] {
            const std::string sealed = sealed_seeds_from(bytes, "input");
            const KeyRing opened = open_seeds_of(identity, sealed, real_checkpoint(), plan, 1);
            fuzz::require(opened.groups() == ring.groups() && opened.seed(4) == ring.seed(4));
        }))
        fuzz::require(bytes == original);
    else
        fuzz::require(bytes != original);
}

SealedCheckpoint real_manifest() {
    return {340, 1, 0, true, {{0, to_hex(Digest{})}, {2, to_hex(Digest{})}}, {1.5, 0.25}};
}

/// The digest that whoever changed the rest would write; the text itself where it is none.
std::string with_manifest_digest(const std::string& text) {
    try {
        auto json = json_from_text<nlohmann::ordered_json>(text);
        json.erase("blake2b");
        Hasher hasher("sotto.checkpoint-manifest.v1");
        hasher.add(json.dump());
        json["blake2b"] = to_hex(hasher.finish());
        return json.dump();
    } catch (const std::exception&) {
        return text;
    }
}

void read_manifest(const std::string& text) {
    SealedCheckpoint sealed;
    if (!fuzz::accepts([&] { sealed = sealed_checkpoint_from_json(text); })) return;
    const std::string again = to_json(sealed);
    fuzz::require(to_json(sealed_checkpoint_from_json(again)) == again);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    fuzz::Changes changes(data, size);
    const std::uint8_t kind = changes.byte();
    const std::string original = CheckpointBytes(real_checkpoint()).text();
    const std::string content = original.substr(0, original.size() - sizeof(Digest));
    switch (kind % 5) {
        case 0:
            read_bytes(changes.apply(original));
            break;
        case 1:
            read_bytes(with_digest(changes.apply(content)));
            break;
        case 2:
            open_changed_seeds(changes);
            break;
        case 3:
            read_manifest(changes.apply(to_json(real_manifest())));
            break;
        default:
            read_manifest(with_manifest_digest(changes.apply(to_json(real_manifest()))));
    }
    return 0;
}
