// Copies that other disks keep of a run: an agent's checkpoint, sealed for its identity, and rank
// 0's files, as they come back to who has lost them, and as they are given to who keeps them. First
// byte: which of them.

#include <unistd.h>

#include <algorithm>
#include <set>

#include "agent/checkpoint.hpp"
#include "core/bytes.hpp"
#include "core/files.hpp"
#include "store/checkpoint_store.hpp"
#include "store/copies.hpp"
#include "store/own_record.hpp"
#include "support.hpp"
#include "trust/seed_agreement.hpp"

using namespace sotto;

namespace {

namespace fs = std::filesystem;

constexpr int own_agent = 1;
constexpr long own_round = 20;

/// A folder in memory, empty for every input, that goes with the process.
class RunFolder {
  public:
    RunFolder() : folder_(made()) {}
    ~RunFolder() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    [[nodiscard]] const fs::path& emptied() {
        for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
        return folder_;
    }
    /// Names of all files in it.
    [[nodiscard]] std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            if (!entry.is_directory()) names.insert(fs::relative(entry.path(), folder_));
        return names;
    }

  private:
    static fs::path made() {
        std::string path = fs::is_directory("/dev/shm") ? "/dev/shm/sotto-copies-XXXXXX"
                                                        : "/tmp/sotto-copies-XXXXXX";
        fuzz::require(::mkdtemp(path.data()) != nullptr);
        return path;
    }
    const fs::path folder_;
};

RunFolder& run_folder() {
    static RunFolder folder;
    return folder;
}

std::string real_record() {
    Digest run{};
    run.fill(3);
    OwnRecord record(run, own_agent);
    record.add({.phase = 0, .session = run, .rounds_before = 0, .facts = {{"first_round", "0"}}});
    return record.text();
}

Checkpoint real_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.run.fill(3);
    checkpoint.agent = own_agent;
    checkpoint.round = own_round;
    checkpoint.model = Eigen::Vector3d(0.5, -1, 2);
    checkpoint.revealed = real_record();
    return checkpoint;
}

/// The same one whenever it is asked for.
Identity own_identity() {
    fuzz::restart_randomness();
    return Identity::generate();
}

CheckpointCopy real_copy() {
    return {.checkpoint = CheckpointBytes(real_checkpoint()).text(),
            .revealed = real_record(),
            .phase = 0,
            .until = 30};
}

/// A copy that anybody may have changed opens as it was sealed, or not at all.
void open_changed_copy(fuzz::Changes& changes) {
    const Identity identity = Identity::generate();
    const std::string original = seal_copy(identity, own_agent, real_copy());
    const std::string bytes = changes.apply(original);
    CheckpointCopy copy;
    if (fuzz::accepts([&] { copy = open_copy(identity, own_agent, bytes); }))
        fuzz::require(bytes == original && copy.checkpoint == real_copy().checkpoint &&
                      copy.phase == 0 && copy.until == 30);
    else
        fuzz::require(bytes != original);
}

/// What the agent itself has sealed, an older program of it, say.
void open_own_copy(fuzz::Changes& changes) {
    const Identity identity = Identity::generate();
    ByteWriter writer;
    writer.put(std::int32_t{own_agent});
    writer.put(std::int32_t{0});
    writer.put(std::int64_t{30});
    writer.put_text(real_copy().revealed);
    writer.put_text(real_copy().checkpoint);
    const std::string content = changes.apply(writer.take());
    const std::string sealed =
        seal(identity.storage_key(),
             SealPurpose::checkpoint_copy,
             own_agent,
             own_agent,
             {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
    CheckpointCopy copy;
    if (fuzz::accepts([&] { copy = open_copy(identity, own_agent, sealed); }))
        (void)fuzz::accepts([&] { (void)checkpoint_from_bytes(copy.checkpoint, "input"); });
}

/// Of agent 1, whose disk is lost, from two others: what they keep, the copies, what they restored.
void restore_checkpoint(fuzz::Changes& changes) {
    const Identity identity = own_identity();
    ByteWriter keys;
    keys.put(std::int64_t{own_round});
    keys.put(std::int32_t{0});
    keys.put(std::int32_t{own_agent});
    const std::string kept = keys.take(), sealed = seal_copy(identity, own_agent, real_copy());
    const std::uint8_t changed = changes.byte();
    fuzz::ScriptedNetwork network(3, own_agent, "", [&](int call) {
        std::string said = call == 0 ? kept : call == 1 || call == 4 ? std::string() : sealed;
        if (call == changed % 5) said = changes.apply(std::move(said));
        return std::vector<std::string>{said, "", call == 0 ? kept : call == 3 ? sealed : ""};
    });
    const fs::path& folder = run_folder().emptied();
    RestoredFiles files(Stay::for_good);
    (void)fuzz::accepts([&] {
        (void)restore_from_copies(
            files, folder, network, {3, {0, 1, 2}}, [](std::size_t) { return own_identity(); });
    });
    // Of what comes back every byte was sealed by the agent.
    const fs::path own = checkpoints_in(checkpoint_folder(folder, own_round)).file_of(own_agent);
    for (const std::string& name : run_folder().files())
        fuzz::require(name == "sent/1" || name == "agents/1/revealed.jsonl" ||
                      folder / name == own);
    if (fs::exists(own)) fuzz::require(read_file(own) == real_copy().checkpoint);
}

/// Name and content, one after the other.
std::string packed(const std::vector<std::pair<std::string, std::string>>& files) {
    ByteWriter writer;
    for (const auto& [name, content] : files) {
        writer.put_text(name);
        writer.put_text(content);
    }
    return writer.take();
}

bool is_of_run(const std::string& name) {
    const fs::path path(name);
    if (name == "config.ini" || name == "history.json" || name == "metrics.csv") return true;
    if (name.starts_with("plan") && name.ends_with(".json")) return !path.has_parent_path();
    return name.starts_with("checkpoints/") && path.filename() == "manifest.json" &&
           std::ranges::distance(path.begin(), path.end()) == 3;
}

/// Rank 0's files, which are lost, from another: how new they are, and all of them.
void restore_rank_0(fuzz::Changes& changes) {
    ByteWriter age, history, all;
    age.put(std::int64_t{2});
    age.put(std::int64_t{own_round});
    history.put(std::int64_t{2});
    const std::string names = packed({{"config.ini", "[sotto]\n"},
                                      {"plan.json", "{}"},
                                      {"plan-1.json", "{}"},
                                      {"history.json", "{}"}});
    all.put_text(history.take() + names);
    for (const long round : {own_round, own_round - 10}) {
        all.put_text(checkpoint_folder("", round).filename().string());
        all.put_text(packed({{"manifest.json", "{}"}, {"metrics.csv", "round\n"}}));
    }
    const std::string how_new = age.take(), copies = all.take();
    const std::uint8_t changed = changes.byte();
    fuzz::ScriptedNetwork network(2, 0, "", [&](int call) {
        std::string said = call == 0 ? how_new : copies;
        if (call == changed % 2) said = changes.apply(std::move(said));
        return std::vector<std::string>{"", said};
    });
    const fs::path& folder = run_folder().emptied();
    const Stay stay = changed < 128 ? Stay::for_good : Stay::for_a_look;
    {
        RestoredFiles files(stay);
        (void)fuzz::accepts([&] { (void)restore_history(files, folder, network); });
        for (const std::string& name : run_folder().files()) fuzz::require(is_of_run(name));
    }
    if (stay == Stay::for_a_look) fuzz::require(fs::is_empty(folder));
}

/// As who keeps the copies of agent 0.
void keep_of_another(fuzz::Changes& changes) {
    ByteWriter parcel;
    parcel.put(std::int32_t{0});
    parcel.put_text("sealed");
    const std::string real = parcel.take();
    fuzz::ScriptedNetwork network(2, 1, "", [&](int) {
        return std::vector<std::string>{changes.apply(real), ""};
    });
    const fs::path& folder = run_folder().emptied();
    std::vector<Identity> identities;
    identities.push_back(own_identity());
    fs::create_directories(checkpoint_folder(folder, own_round));
    fs::create_directories(folder / "agents" / "1");
    write_file_atomically(checkpoints_in(checkpoint_folder(folder, own_round)).file_of(own_agent),
                          "own");
    write_file_atomically(folder / "agents" / "1" / "revealed.jsonl", real_record());
    (void)fuzz::accepts([&] {
        keep_copies(folder,
                    network,
                    {1, 0},
                    {.round = own_round, .phase = 0, .until = 30},
                    {2, {0, 1}},
                    identities);
    });
    for (const std::string& name : run_folder().files())
        fuzz::require(name.ends_with("/agent-0.copy") || name.ends_with("/agent-1.checkpoint") ||
                      name == "agents/1/revealed.jsonl");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    fuzz::Changes changes(data, size);
    switch (changes.byte() % 5) {
        case 0:
            open_changed_copy(changes);
            break;
        case 1:
            open_own_copy(changes);
            break;
        case 2:
            restore_checkpoint(changes);
            break;
        case 3:
            restore_rank_0(changes);
            break;
        default:
            keep_of_another(changes);
    }
    return 0;
}
