// What peers send while a job is set up.

#include <cmath>

#include "agent/bootstrap.hpp"
#include "commands/doctor/doctor.hpp"
#include "config/peer_notes.hpp"
#include "core/bytes.hpp"
#include "fuzz/support.hpp"
#include "hostile/hostile_input.hpp"
#include "sotto/core/hash.hpp"
#include "tasks/data_shape.hpp"
#include "training/manifest.hpp"
#include "training/participants.hpp"
#include "trust/handshake.hpp"

namespace sotto::test {

namespace {

using Change = std::function<void(std::string&)>;

HostileInput refused(std::string name,
                     std::function<void()> read,
                     std::vector<std::string> words,
                     ExitCode code = ExitCode::network) {
    return {std::move(name),
            [](const TemporaryFolder&) {},
            [read = std::move(read)](const TemporaryFolder&) { read(); },
            std::move(words),
            code};
}

template <class Value>
Change put(std::size_t at, Value value) {
    return [=](std::string& bytes) { std::memcpy(bytes.data() + at, &value, sizeof value); };
}
Change cut(std::size_t size) {
    return [=](std::string& bytes) { bytes.resize(size); };
}
Change longer() {
    return [](std::string& bytes) { bytes += 'x'; };
}
Change flip(std::size_t at) {
    return [=](std::string& bytes) { bytes[at] ^= 1; };
}

/// Rank 1 of two says something else than it should.
HostileInputs announcements() {
    const auto with =
        [](const std::string& name, const Change& change, std::vector<std::string> words) {
            return refused(
                "announcement: " + name,
                [change] {
                    const HandshakeTerms terms{2, Digest{1}, Digest{2}, Digest{3}};
                    Handshake own(terms, std::vector<int>{0}, nullptr);
                    const Handshake peer(terms, std::vector<int>{1}, nullptr);
                    std::vector<std::string> all{own.announcement(), peer.announcement()};
                    change(all[1]);
                    own.receive(all);
                },
                std::move(words));
        };
    const std::size_t text = sizeof(std::uint64_t), agent = text + 18 + 33 + text;
    return {
        with("empty", cut(0), {"announcement of rank 1"}),
        with("cut", cut(100), {"announcement of rank 1"}),
        with("one byte more", longer(), {"announcement of rank 1"}),
        with("another protocol", flip(text + 3), {"rank 1", "protocol"}),
        with("a text of 2^60 bytes", put(0, std::uint64_t{1} << 60), {"announcement of rank 1"}),
        with(
            "2^60 agents", put(text + 18 + 33, std::uint64_t{1} << 60), {"announcement of rank 1"}),
        with("agent 0 once more", put(agent, std::int32_t{0}), {"agent 0"}),
        with("agent 9", put(agent, std::int32_t{9}), {"agent 9"}),
        with("agent -1", put(agent, std::int32_t{-1}), {"agent -1"})};
}

HostileInputs graphs() {
    const auto from = [](const std::string& name, std::string bytes) {
        return refused("graph: " + name,
                       [bytes = std::move(bytes)] { (void)unpack_topography(bytes, 3); },
                       {"the graph from rank 0"});
    };
    const Graph triangle = Graph::from_edges(3, {{0, 1}, {1, 2}, {0, 2}});
    const std::string good =
        pack_topography({triangle, MixingMatrix::from_rule(triangle, MixingRule::metropolis)});
    const auto with = [&](const Change& change) {
        std::string bytes = good;
        change(bytes);
        return bytes;
    };
    const std::size_t flags = 4 + 3 * 9, edges = flags + 2;
    return {from("empty", ""),
            from("cut", with(cut(20))),
            from("one byte more", with(longer())),
            from("2^31 - 1 agents", with(put(0, std::int32_t{2147483647}))),
            from("-1 agents", with(put(0, std::int32_t{-1}))),
            from("a label of 2^60 bytes", with(put(4, std::uint64_t{1} << 60))),
            from("a direction that is none", with(put(flags, std::uint8_t{2}))),
            from("a kind of mixing that is none", with(put(flags + 1, std::uint8_t{7}))),
            from("2^60 edges", with(put(edges, std::uint64_t{1} << 60))),
            from("an edge to nobody", with(put(edges + 8, std::int32_t{77}))),
            from("a loop", with(put(edges + 12, std::int32_t{0}))),
            from("2^60 matrices", with(put(edges + 8 + 24, std::uint64_t{1} << 60))),
            from("a weight that is not a number",
                 with(put(good.size() - 8, std::numeric_limits<double>::quiet_NaN()))),
            from("a weight of 1e300", with(put(good.size() - 8, 1e300)))};
}

/// What rank 1 of two, which hosts agents 1 and 2 of three, says of its neighbours.
HostileInputs neighbours() {
    const auto from = [](const std::string& name, std::string bytes) {
        return refused("neighbours: " + name,
                       [bytes = std::move(bytes)] {
                           (void)unpack_neighbour_lists(bytes, 1, AgentBlocks(3, 2));
                       },
                       {"what rank 1 says of its neighbours"});
    };
    const std::string good = pack_neighbour_lists({{0, 2}, {1}});
    const auto with = [&](const Change& change) {
        std::string bytes = good;
        change(bytes);
        return bytes;
    };
    return {from("empty", ""),
            from("cut", with(cut(14))),
            from("one byte more", with(longer())),
            from("of one agent", pack_neighbour_lists({{0, 2}})),
            from("of three agents", pack_neighbour_lists({{0, 2}, {1}, {1}})),
            from("2^60 of them", with(put(0, std::uint64_t{1} << 60))),
            from("nobody", with(put(8, std::int32_t{-1}))),
            from("agent 3", with(put(12, std::int32_t{3}))),
            from("itself", pack_neighbour_lists({{0, 1}, {1}})),
            from("twice the same", pack_neighbour_lists({{0, 0}, {1}})),
            from("out of order", pack_neighbour_lists({{2, 0}, {1}}))};
}

HostileInputs notes() {
    const auto note = [](const std::string& name, std::string text) {
        return refused("note: " + name,
                       [text = std::move(text)] { (void)process_note_from_json(text, 2); },
                       {"rank 2"});
    };
    const auto records = [](const std::string& name, std::string text) {
        return refused("records: " + name,
                       [text = std::move(text)] { (void)records_from_text(text, 2); },
                       {"rank 2"});
    };
    const auto figures = [](const std::string& name, std::string bytes) {
        return refused("figures: " + name,
                       [bytes = std::move(bytes)] { (void)rank_figures_from_bytes(bytes, 2); },
                       {"rank 2"});
    };
    const auto findings = [](const std::string& name, std::string text) {
        return refused(
            "findings: " + name,
            [text = std::move(text)] { (void)findings_from_json(text); },
            {"findings"},
            ExitCode::data);
    };
    return {
        note("empty", ""),
        note("an array", "[]"),
        note("a host that is a number",
             R"({"host":1,"network":"","keys_locked":true,"commitments":[]})"),
        note("commitments that are a text",
             R"({"host":"","network":"","keys_locked":true,"commitments":"x"})"),
        note(
            "a digest that is short",
            R"({"host":"","network":"","keys_locked":true,"commitments":[{"agent":0,"group":0,"blake2b":"ab"}]})"),
        note("arrays a million deep", std::string(1000000, '[')),
        records("a word", "ten "),
        records("a negative number", "-1 "),
        records("a number of 1e30", "1000000000000000000000000000000 "),
        records("no end", "12"),
        figures("empty", ""),
        figures("a host of 2^60 bytes", std::string(8, '\x0f') + "host"),
        figures("seconds that are not finite", std::string(8, '\0') + std::string(48, '\xff')),
        findings("an array", "[]"),
        findings(
            "checks that are a number",
            R"({"launched":true,"rank":0,"ranks":1,"host":"","ranks_on_host":1,"cores_on_host":1,"checks":7})"),
        findings(
            "a check without name",
            R"({"launched":true,"rank":0,"ranks":1,"host":"","ranks_on_host":1,"cores_on_host":1,"checks":[{}]})")};
}

/// What a peer says of its data; this rank's have 100 features and labels 1, 2.
HostileInputs data_shapes() {
    using Labels = std::vector<double>;
    const auto said = [](bool values, std::int64_t features, const Labels& labels) {
        ByteWriter writer;
        writer.put(std::uint8_t{values});
        writer.put(features);
        writer.put(std::int64_t{0});
        writer.put(static_cast<std::uint64_t>(labels.size()));
        for (const double label : labels) writer.put(label);
        writer.put(std::uint8_t{0});
        return writer.take();
    };
    // Of a table with one feature.
    const auto table = [](const std::vector<std::string>& classes,
                          std::uint8_t kind,
                          const std::vector<std::string>& categories) {
        ByteWriter writer;
        writer.put(std::uint8_t{0});
        writer.put(std::int64_t{0});
        writer.put(std::int64_t{0});
        writer.put(std::uint64_t{0});
        writer.put(std::uint8_t{1});
        const auto put = [&](const std::vector<std::string>& texts) {
            writer.put(static_cast<std::uint64_t>(texts.size()));
            for (const std::string& text : texts) writer.put_text(text);
        };
        put(classes);
        writer.put(kind);
        put(categories);
        return writer.take();
    };
    const auto shape_of_table = [=](const std::string& name,
                                    const std::string& theirs,
                                    std::vector<std::string> words,
                                    ExitCode code = ExitCode::network) {
        return refused(
            "shape of a table: " + name,
            [=] {
                fuzz::ScriptedNetwork network(2, 0, "", [&](int) {
                    return std::vector<std::string>{table({"no", "yes"}, 2, {"x"}), theirs};
                });
                TableShape own;
                own.features = {{"city", ColumnShape::Kind::categories, {"x"}}};
                own.target = Target::label;
                own.label_names = {"no", "yes"};
                (void)agreed_shape(network, {.target = Target::label, .table = own});
            },
            std::move(words),
            code);
    };
    const auto shape = [](const std::string& name,
                          const std::string& theirs,
                          const std::string& honest,
                          std::vector<std::string> words,
                          ExitCode code = ExitCode::network) {
        return refused(
            "shape of data: " + name,
            [=] {
                fuzz::ScriptedNetwork network(2, 0, "", [&](int) {
                    return std::vector<std::string>{honest, theirs};
                });
                (void)agreed_shape(network, {.features = 100, .labels = {1, 2}});
            },
            std::move(words),
            code);
    };
    const std::string honest = said(false, 100, {1, 2});
    Labels thousands;
    for (int label = 0; label < 3000; ++label) thousands.push_back(label);
    const std::string damaged = "the shape of rank 1's data";
    ByteWriter endless;
    endless.put(std::uint8_t{0});
    endless.put(std::int64_t{100});
    endless.put(std::int64_t{0});
    endless.put(std::uint64_t{1} << 60);
    return {
        shape("1e9 features", said(false, 1000000000, {1}), honest, {"1000000000 features"}),
        shape("2^62 features", said(false, std::int64_t{1} << 62, {1}), honest, {"features"}),
        shape("-1 features", said(false, -1, {1}), honest, {"-1 features"}),
        shape("3000 classes", said(false, 100, thousands), honest, {"3000 classes"}),
        shape("a label that is no number", said(false, 100, {std::nan("")}), honest, {damaged}),
        shape("a label between whole numbers", said(false, 100, {0.5}), honest, {damaged}),
        shape("labels in another order", said(false, 100, {2, 1}), honest, {damaged}),
        shape("a label twice", said(false, 100, {1, 1}), honest, {damaged}),
        shape("2^60 labels", endless.take(), honest, {damaged}),
        shape("bytes behind", honest + "x", honest, {damaged}),
        shape("nothing", "", honest, {damaged}),
        shape("a table where others have none",
              table({"no"}, 2, {"x"}),
              honest,
              {"rank 1", "tables"},
              ExitCode::data),
        shape_of_table(
            "numbers for texts", table({"no"}, 1, {}), {"city", "numbers"}, ExitCode::data),
        shape_of_table("categories of numbers", table({"no"}, 1, {"x"}), {damaged}),
        shape_of_table("a kind that is none", table({"no"}, 3, {}), {damaged}),
        shape_of_table("words for a terminal", table({"no"}, 2, {"\x1b[2J"}), {damaged}),
        shape_of_table(
            "a class of 5000 letters", table({std::string(5000, 'a')}, 2, {}), {damaged}),
        shape_of_table(
            "1001 categories", table({"no"}, 2, std::vector<std::string>(1001, "y")), {damaged}),
        shape_of_table("nothing", "", {damaged})};
}

/// More bytes than the graph and the number of agents allow.
HostileInputs too_many_bytes() {
    const auto gigabyte = [] { return std::string(std::size_t{100} << 20, ' '); };
    const Graph triangle = Graph::from_edges(3, {{0, 1}, {1, 2}, {0, 2}});
    return {refused("shared graph: 100 MB",
                    [=] {
                        fuzz::ScriptedNetwork network(3, 1, gigabyte(), nullptr);
                        (void)share_topography(network, std::nullopt, 1);
                    },
                    {"more bytes than there can be"}),
            refused("shared plan: 100 MB",
                    [=] {
                        fuzz::ScriptedNetwork network(3, 1, gigabyte(), nullptr);
                        (void)share_plan(network, std::nullopt, triangle, 0);
                    },
                    {"more bytes than there can be"})};
}

}  // namespace

HostileInputs hostile_peer_bytes() {
    HostileInputs all;
    for (const HostileInputs& more :
         {announcements(), graphs(), neighbours(), notes(), data_shapes(), too_many_bytes()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace sotto::test
