#include "hostile/stopped_run.hpp"

#include <csignal>
#include <stdexcept>

#include "core/files.hpp"
#include "store/checkpoint_store.hpp"
#include "trust/identity.hpp"

namespace sotto::test {

namespace fs = std::filesystem;

namespace {

const std::string honest = "run", dishonest = "run-of-rank-0";

bool sealed(const std::string& run) {
    std::error_code ignored;
    for (const auto& folder : fs::directory_iterator(run + "/checkpoints", ignored))
        if (fs::exists(folder.path() / "manifest.json")) return true;
    return false;
}

}  // namespace

StoppedRun::StoppedRun(const Arguments& more, bool identities) {
    Arguments arguments{"train",
                        "--data",
                        folder_.write("data.svm", small_data(300)),
                        "--topology",
                        "complete",
                        "--rounds",
                        "100000000",
                        "--batch-size",
                        "8",
                        "--eval-every",
                        "1000000000",
                        "--checkpoint-every",
                        "200",
                        "--run-directory",
                        path(honest)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (identities) {
        for (int u = 0; u < 3; ++u)
            (void)enroll(path("id" + std::to_string(u)), path("roster"), std::to_string(u));
        arguments.insert(arguments.end(), {"--roster", path("roster"), "--identity", path("id%r")});
    }
    const LongerGrace grace;
    Process process(sotto_command(3, arguments), folder_.path());
    const bool reached = happens([&] { return sealed(path(honest)); });
    process.signal_group(SIGINT);
    const Outcome outcome = process.wait();
    // mpirun says 1 whether it killed them or not.
    const bool closed = outcome.out.find("INTERRUPTED") != std::string::npos;
    if (!reached || !closed || outcome.exit_code != 1)
        throw std::runtime_error("the training was not stopped: " + outcome.text());
    set_nothing_at_rank_0();
}

void StoppedRun::set_nothing_at_rank_0() {
    fs::remove_all(path(dishonest));
    fs::copy(path(honest), path(dishonest), fs::copy_options::recursive);
}

void StoppedRun::set_at_rank_0(const std::string& option, const std::string& value) {
    const std::string file = path(dishonest) + "/config.ini";
    std::string changed;
    for (const std::string& line : lines_of(content_of(file)))
        if (!line.starts_with(option + " =")) changed += line + "\n";
    write_file_atomically(file, changed + option + " = " + value + "\n");
    change_own_checkpoint(option, value);
}

void StoppedRun::change_own_checkpoint(const std::string& option, const std::string& value) {
    for (const auto& folder : fs::directory_iterator(path(dishonest) + "/checkpoints")) {
        const fs::path file = folder.path() / "agent-0.checkpoint";
        const fs::path manifest = folder.path() / "manifest.json";
        if (!fs::exists(manifest)) continue;
        Checkpoint own = checkpoint_from_bytes(read_file(file), file.string()).checkpoint;
        if (value.empty())
            own.own_options.erase(option);
        else
            own.own_options.insert_or_assign(option, value);
        SealedCheckpoint sealed = sealed_checkpoint_from_json(content_of(manifest));
        const CheckpointBytes changed(own);
        write_file_atomically(file, changed.text());
        sealed.digests[0] = to_hex(changed.digest());
        write_file_atomically(manifest, to_json(sealed));
    }
}

Outcome StoppedRun::resume(const Arguments& more) const {
    const auto in = [&](const std::string& run) {
        Arguments arguments{"train", "--resume", path(run)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    };
    Process process(disagreeing_command(in(dishonest), in(honest)), folder_.path());
    return process.wait();
}

}  // namespace sotto::test
