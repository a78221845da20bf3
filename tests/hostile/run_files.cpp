// Files of a run directory that were changed since they were written.

#include <nlohmann/json.hpp>

#include "agent/checkpoint.hpp"
#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "commands/report/report_job.hpp"
#include "core/files.hpp"
#include "hostile/hostile_input.hpp"
#include "hostile/hostile_run.hpp"
#include "net/memory_network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/checkpoint_store.hpp"
#include "store/recorded_ledger.hpp"
#include "store/run_history.hpp"
#include "store/sent_mark.hpp"
#include "training/run_subject.hpp"

namespace sotto::test {

namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;
using Read = std::function<void(const fs::path& run)>;

MakeFile json_with(const std::string& pointer, OrderedJson value) {
    return [pointer, value = std::move(value)](const std::string& path) {
        OrderedJson json = OrderedJson::parse(read_file(path));
        json[OrderedJson::json_pointer(pointer)] = value;
        text(json.dump(2))(path);
    };
}

MakeFile json_without(const std::string& key) {
    return [key](const std::string& path) {
        OrderedJson json = OrderedJson::parse(read_file(path));
        json.erase(key);
        text(json.dump(2))(path);
    };
}

/// One byte changed, counted from the end where negative.
MakeFile flipped(long place) {
    return [place](const std::string& path) {
        std::string bytes = read_file(path);
        const auto size = static_cast<long>(bytes.size());
        bytes[static_cast<std::size_t>(place < 0 ? size + place : place)] ^= 1;
        text(bytes)(path);
    };
}

MakeFile cut(double part) {
    return [part](const std::string& path) {
        fs::resize_file(
            path, static_cast<std::uintmax_t>(part * static_cast<double>(fs::file_size(path))));
    };
}

MakeFile replaced_by(MakeFile other) {
    return [other = std::move(other)](const std::string& path) {
        fs::remove(path);
        other(path);
    };
}

/// A file of the run is changed, then something reads the run.
HostileInputs changes(const std::string& reader,
                      const Read& read,
                      const std::vector<HostileFile>& files) {
    HostileInputs inputs;
    for (const HostileFile& file : files) {
        std::vector<std::string> words = file.words;
        words.push_back(fs::path(file.file).filename());
        inputs.push_back({reader + ": " + file.file + ", " + file.name,
                          [file](const TemporaryFolder& at) {
                              const fs::path run = at.path() / "run";
                              fs::copy(hostile_run(), run, fs::copy_options::recursive);
                              file.make(run / file.file);
                          },
                          [read](const TemporaryFolder& at) { read(at.path() / "run"); },
                          std::move(words),
                          file.code});
    }
    return inputs;
}

HostileFile in(const std::string& file,
               const std::string& name,
               MakeFile make,
               std::vector<std::string> words = {},
               ExitCode code = ExitCode::data) {
    return {name, std::move(make), std::move(words), code, file};
}

HostileInputs ledgers() {
    const std::string other(64, '0');
    return changes(
        "recorded run",
        [](const fs::path& run) { (void)read_recorded_run(run, hostile_run_config()); },
        {in("ledger.json", "fewer rounds", json_with("/rounds/completed", 1), {"not the ledger"}),
         in("ledger.json",
            "another epsilon",
            json_with("/agents/0/epsilon", 0.1),
            {"not the ledger"}),
         in("ledger.json", "another status", json_with("/status", "running"), {"not the ledger"}),
         in("ledger.json",
            "no sensitivity",
            json_with("/agents/0/sensitivity", 0),
            {"not the ledger"}),
         in("ledger.json",
            "fewer statements",
            json_with("/statements", OrderedJson::array()),
            {"not the ledger"}),
         in("ledger.json", "an array", text("[]"), {"damaged", "format"}),
         in("ledger.json", "a text", text("\"ledger\""), {"damaged"}),
         in("ledger.json", "rounds that are none", json_with("/rounds", 7), {"rounds is 7"}),
         in("ledger.json", "a status that is none", json_with("/status", 7), {"status is 7"}),
         in("ledger.json", "cut", cut(0.5), {"no JSON"}),
         in("ledger.json", "empty", text(""), {"empty"}),
         in("ledger.json", "a pipe", replaced_by(pipe()), {"is a pipe"}),
         in("ledger.json", "of terabytes", hole(std::size_t{1} << 42), {"bytes"}),
         in("manifest.json", "an array", text("[]"), {"ledger_blake2b"}),
         in("manifest.json", "null", text("null"), {"ledger_blake2b"}),
         in("manifest.json", "no digest", json_without("ledger_blake2b"), {"is missing"}),
         in("manifest.json", "a number for digests", json_with("/ledger_blake2b", 1), {"an array"}),
         in("manifest.json", "another digest", json_with("/ledger_blake2b/0", other), {other}),
         in("manifest.json", "another graph", json_with("/graph_hash", other), {"graph_hash"}),
         in("manifest.json", "no graph", json_without("graph_hash"), {"graph_hash is missing"}),
         in("manifest.json", "missing", replaced_by(nothing()), {"cannot be read"}),
         in("agents/1/ledger.blake2b", "another digest", text(other + "\n"), {other}),
         in("agents/1/ledger.blake2b", "no digest", text("hello\n"), {"damaged"}),
         in("agents/1/ledger.blake2b", "a pipe", replaced_by(pipe()), {"is a pipe"}),
         in("agents/1/ledger.blake2b", "of terabytes", hole(std::size_t{1} << 42), {"bytes"})});
}

/// Who edits the ledger and its manifest is found by an agent's copy.
HostileInputs edited_together() {
    return {{"recorded run: ledger and manifest",
             [](const TemporaryFolder& at) {
                 const fs::path run = at.path() / "run";
                 fs::copy(hostile_run(), run, fs::copy_options::recursive);
                 json_with("/rounds/completed", 1)(run / "ledger.json");
                 const std::string digest = ledger_digest(read_file(run / "ledger.json"));
                 text(with_ledger_digests(read_file(run / "manifest.json"), {digest}))(
                     run / "manifest.json");
             },
             [](const TemporaryFolder& at) {
                 (void)read_recorded_run(at.path() / "run", hostile_run_config());
             },
             {"agents/0/ledger.blake2b", "not the ledger"}}};
}

HostileInputs histories() {
    const Read history = [](const fs::path& run) { (void)read_history(run); };
    const Read whole = [](const fs::path& run) {
        (void)read_recorded_run(run, hostile_run_config());
    };
    HostileInputs all = changes(
        "history",
        history,
        {in("history.json", "an array", text("[]"), {"format"}),
         in("history.json", "cut", cut(0.5), {}),
         in("history.json", "a pipe", replaced_by(pipe()), {"is a pipe"}),
         in("history.json", "missing", replaced_by(nothing()), {"there is no history.json"}),
         in("history.json",
            "no phases",
            json_with("/phases", OrderedJson::array()),
            {"for 0 phases"}),
         in("history.json", "phases that are none", json_with("/phases", "x"), {"phases is \"x\""}),
         in("history.json", "a run that is no digest", json_with("/run", "x"), {"run is \"x\""}),
         in("history.json", "rounds of -1", json_with("/rounds", -1), {"rounds is -1"}),
         in("history.json", "rounds of 1e300", json_with("/rounds", 1e300), {"rounds is 1e+300"}),
         in("history.json", "2^31 starts", json_with("/starts", 2147483648), {"starts is"}),
         in("history.json", "no agents", json_with("/agents", 0), {"agents is 0"}),
         in("history.json",
            "agents who are not there",
            json_with("/phases/0/agents", {0, 1, 9}),
            {"agents"}),
         in("history.json",
            "a phase that begins late",
            json_with("/phases/0/first_round", 5),
            {"fit"}),
         in("history.json",
            "2^63 rounds of a phase",
            json_with("/phases/0/rounds", std::uint64_t{1} << 63),
            {"phases[0].rounds"}),
         in("history.json",
            "another plan",
            json_with("/phases/0/plan_hash", std::string(64, '0')),
            {"plan.json is not the plan"})});
    const auto more = changes(
        "recorded run",
        whole,
        {in("history.json",
            "another sensitivity",
            json_with("/phases/0/sensitivity/0", 1e-9),
            {"sensitivity"}),
         in("history.json", "another key epoch", json_with("/phases/0/key_epoch", 7), {"phases"})});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

HostileInputs checkpoints() {
    const Read read = [](const fs::path& run) {
        (void)checkpoint_from_bytes(read_file(run / "own.checkpoint"), "own.checkpoint");
    };
    const Read find = [](const fs::path& run) {
        const auto network = make_memory_network(3, 1);
        const std::vector<int> numbers{0, 1, 2};
        const FoundCheckpoint found = find_checkpoint(run, *network, numbers);
        // Damaged ones are passed over, and that is said.
        if (!found.notes.empty()) throw DataError("manifest.json: " + found.notes.front());
    };
    const std::string own = "own.checkpoint", manifest = "checkpoints/000000000008/manifest.json";
    HostileInputs all = changes("checkpoint",
                                read,
                                {in(own, "a byte of the model", flipped(120), {"damaged"}),
                                 in(own, "a byte of the digest", flipped(-1), {"damaged"}),
                                 in(own, "a byte of the version", flipped(9), {"version"}),
                                 in(own, "a byte of its name", flipped(0), {"not a checkpoint"}),
                                 in(own, "cut", cut(0.5), {"damaged"}),
                                 in(own, "ten bytes", cut(0.01), {}),
                                 in(own, "empty", text(""), {"empty"}),
                                 in(own, "a pipe", replaced_by(pipe()), {"is a pipe"}),
                                 in(own, "of terabytes", hole(std::size_t{1} << 42), {"bytes"}),
                                 in(own,
                                    "sizes of 2^60",
                                    text("sottockp" + std::string("\10\0\0\0", 4) +
                                         std::string(8, '\x0f') + std::string(40, 'x')),
                                    {"damaged"})});
    const auto more = changes(
        "checkpoints",
        find,
        {in(manifest, "an array", text("[]"), {"format"}),
         in(manifest, "an agent of 1e30", json_with("/agents/0/agent", 1e30), {"agents[0].agent"}),
         in(manifest,
            "an agent that is a word",
            json_with("/agents/0/agent", "one"),
            {"agents[0].agent is \"one\""}),
         in(manifest,
            "a digest that is a number",
            json_with("/agents/0/blake2b", 1),
            {"agents[0].blake2b"}),
         in(manifest, "an agent twice", json_with("/agents/1/agent", 0), {"agents[1].agent"}),
         in(manifest, "agents that are a text", json_with("/agents", "{}"), {"agents"}),
         in(manifest, "a round of -1", json_with("/round", -1), {"round is -1"}),
         in(manifest, "another round", json_with("/round", 4), {"digest is another"}),
         in(manifest, "no digest", json_without("blake2b"), {"blake2b is missing"}),
         in(manifest,
            "seconds that are a text",
            json_with("/loop_seconds", "x"),
            {"loop_seconds"})});
    all.insert(all.end(), more.begin(), more.end());
    for (HostileInput& input : all)
        if (input.name.starts_with("checkpoints")) input.words.pop_back();  // the folder is named
    return all;
}

HostileInputs marks() {
    const Read read = [](const fs::path& run) {
        const auto network = make_memory_network(3, 1);
        const RunHistory history = read_history(run);
        (void)sent_before(
            run, *network, {history.run, history.rounds, 0, {0, 1, 2}, {0, 1, 2}, 0, {0, 1, 2}});
    };
    HostileInputs all =
        changes("mark",
                read,
                {in("sent/0", "another format", text("sotto-sent 1\n"), {"format"}),
                 in("sent/0", "nothing", text("sotto-sent 2\n"), {"damaged"}),
                 in("sent/0", "empty", text(""), {"empty"}),
                 in("sent/0", "cut", cut(0.6), {"damaged"}),
                 in("sent/0", "missing", replaced_by(nothing()), {"agent 0"}),
                 in("sent/0", "of terabytes", hole(std::size_t{1} << 42), {"bytes"})});
    return all;
}

/// A report reads the rest; what is damaged beside the ledger is said on the page.
HostileInputs report_files() {
    const Read read = [](const fs::path& run) {
        ReportConfig config;
        config.directory = run;
        config.run = hostile_run_config();
        const Report report = make_report(config);
        std::string missing;
        for (const std::string& line : report.missing) missing += line + " ";
        throw DataError("said on the page: " + missing);
    };
    return changes("report",
                   read,
                   {in("metrics.csv", "empty", text(""), {"said on the page"}),
                    in("metrics.csv", "a pipe", replaced_by(pipe()), {"is a pipe"}),
                    in("summary.json", "an array", text("[]"), {"an array of 0"}),
                    in("summary.json", "cut", cut(0.5), {"no JSON"}),
                    in("failure.txt", "a pipe", pipe(), {"is a pipe"}),
                    in("manifest.json", "an array", text("[]"), {"ledger_blake2b"})});
}

}  // namespace

HostileInputs hostile_run_files() {
    HostileInputs all;
    for (const HostileInputs& more :
         {ledgers(), edited_together(), histories(), checkpoints(), marks(), report_files()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

HostileInputs hostile_recordings() {
    const std::string view = "views/0/view.bin", wire = "views/wire/0/messages.bin",
                      seeds = "views/0/seeds.json";
    HostileInputs all = changes(
        "recorded view",
        [=](const fs::path& run) {
            RecordedViewReader reader(run / view);
            for (RecordedRound round; reader.next(round);) {
            }
        },
        {in(view, "empty", text(""), {"does not start"}),
         in(view, "another file", text("hello, this is no recording at all"), {"does not start"}),
         in(view, "cut", cut(0.7), {}),
         in(view, "no end", flipped(-16), {"end"}),
         in(view, "another number of records", flipped(-8), {"records"}),
         in(view, "a header of 2^60 bytes", flipped(15), {"header"}),
         in(view, "a damaged header", flipped(17), {}),
         in(view, "a pipe", replaced_by(pipe()), {"is a pipe"}),
         in(view, "a folder", replaced_by(folder()), {"is a directory"}),
         in(view, "of terabytes", replaced_by(hole(std::size_t{1} << 42)), {"does not start"})});
    const auto add = [&](HostileInputs more) { all.insert(all.end(), more.begin(), more.end()); };
    add(changes("recorded wire",
                [=](const fs::path& run) { WireReader reader(run / wire); },
                {in(wire, "empty", text(""), {"does not start"}),
                 in(wire,
                    "a view",
                    [=](const std::string& path) {
                        fs::copy_file(
                            hostile_run() / view, path, fs::copy_options::overwrite_existing);
                    },
                    {"does not start"}),
                 in(wire, "cut", cut(0.7), {}),
                 in(wire, "a pipe", replaced_by(pipe()), {"is a pipe"})}));
    add(changes(
        "recorded seeds",
        [=](const fs::path& run) {
            const NoisePlan plan = plan_from_json(read_file(run / "plan.json"), "plan.json");
            (void)read_recorded_seeds(run / seeds, plan);
        },
        {in(seeds, "an array", text("[]"), {"format"}),
         in(seeds, "cut", cut(0.5), {"no JSON"}),
         in(seeds, "another agent", json_with("/agent", 9), {"agent 9"}),
         in(seeds, "an agent of 2^40", json_with("/agent", std::uint64_t{1} << 40), {"agent is"}),
         in(seeds, "another plan", json_with("/plan_hash", "00"), {"another noise plan"}),
         in(seeds, "no seeds", json_with("/seeds", OrderedJson::array()), {"missing"}),
         in(seeds, "seeds that are a text", json_with("/seeds", "x"), {"seeds is \"x\""}),
         in(seeds, "a seed that is no key", json_with("/seeds/0/seed", "xyz"), {"hexadecimal"}),
         in(seeds, "a group that is not there", json_with("/seeds/0/group", 99), {"group 99"}),
         in(seeds, "a pipe", replaced_by(pipe()), {"is a pipe"})}));
    return all;
}

}  // namespace sotto::test
