// Graphs, mixing matrices, schedules, seed groups and budgets.

#include <fmt/format.h>

#include "account/account_subject.hpp"
#include "core/files.hpp"
#include "design/seed_groups.hpp"
#include "graph/edge_list.hpp"
#include "graph/neighbour_list.hpp"
#include "hostile/hostile_input.hpp"
#include "planning/budgets.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto::test {

namespace {

const Graph& triangle() {
    static const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}, {0, 2}});
    return graph;
}

std::string many_labels(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += fmt::format("{} {}\n", i, i + 1);
    return lines;
}

std::vector<HostileFile> edge_lists() {
    return {
        {"empty", text(""), {"no edge"}},
        {"comments only", text("# a b\n% c d\n"), {"no edge"}},
        {"loops only", text("a a\nb b\n"), {"no edge between two different labels"}},
        {"one label", text("a b\nc\n"), {"line 2", "one label"}},
        {"bytes that are no text", text(std::string("a b\n\1\2\3 \4\n", 10)), {"line 2", "bytes"}},
        {"a zero byte", text(std::string("a b\nc\0 d\n", 9)), {"line 2"}},
        {"column names", text("source target\n1 2\n2 3\n"), {"column names"}},
        {"a label of 300 bytes", text("a " + std::string(300, 'x') + "\n"), {"300 bytes", "256"}},
        {"a label of 10 MB", text("a " + std::string(10 << 20, 'x') + "\n"), {"10485760 bytes"}},
        {"200 000 labels", text(many_labels(200000)), {"131072"}},
        {"a bomb of edges", bomb(many_labels(5000), 900), {"4194304"}},
        {"a bomb of newlines", bomb(std::string(1 << 20, '\n'), 512), {"unpack"}},
        {"one line of 40 MB", bomb(std::string(1 << 20, ' '), 40), {"longer than"}},
    };
}

std::string npy(const std::string& dictionary, const std::string& data) {
    std::string header("\x93NUMPY\1\0", 8);
    header += static_cast<char>(dictionary.size() & 0xff);
    header += static_cast<char>(dictionary.size() >> 8);
    return header + dictionary + data;
}

std::string doubles(int count) { return std::string(8 * static_cast<std::size_t>(count), '\0'); }

std::vector<HostileFile> arrays() {
    const auto shaped = [](const std::string& shape, int values) {
        return text(npy("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }",
                        doubles(values)));
    };
    return {
        {"empty", text(""), {"empty"}},
        {"another file", text("0 1\n1 0\n"), {"signature"}},
        {"version 2", text(std::string("\x93NUMPY\2\0\1\0x", 11)), {"version 1.0"}},
        {"a header that is cut", text(std::string("\x93NUMPY\1\0\xff\xff{", 11)), {"cut short"}},
        {"no shape", text(npy("{'descr': '<f8', 'fortran_order': False}", "")), {"'shape'"}},
        {"whole numbers",
         text(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", doubles(1))),
         {"float64"}},
        {"big-endian numbers",
         text(npy("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", doubles(1))),
         {"float64"}},
        {"a shape of 1e18", shaped("(1000000000000000000,)", 1), {"announced"}},
        {"sizes whose product overflows", shaped("(4294967296, 4294967296)", 0), {"announced"}},
        {"a negative size", shaped("(-1, 3)", 3), {"shape"}},
        {"three dimensions", shaped("(1, 1, 1)", 1), {"3 dimensions"}},
        {"no dimension", shaped("()", 0), {"0 dimensions"}},
        {"values that are missing", shaped("(3, 3)", 8), {"announced"}},
        {"values too many", shaped("(3, 3)", 10), {"announced"}},
        {"a size that overflows", shaped("(99999999999999999999,)", 0), {"shape"}},
    };
}

std::vector<HostileFile> mixing_files() {
    return {
        {"empty", text(""), {"0 rows"}},
        {"a row too many", text("1 0 0\n0 1 0\n0 0 1\n0 0 1\n"), {"line 4", "3 agents"}},
        {"a row too few", text("1 0 0\n0 1 0\n"), {"2 rows"}},
        {"a column too many", text("1 0 0 0\n0 1 0\n0 0 1\n"), {"line 1", "4 numbers"}},
        {"a word", text("1 0 x\n0 1 0\n0 0 1\n"), {"line 1", "not a number"}},
        {"not a number", text("nan 0 0\n0 1 0\n0 0 1\n"), {}},
        {"infinite", text("inf 0 0\n0 1 0\n0 0 1\n"), {}},
        {"rows that do not sum to 1", text("1 1 0\n0 1 0\n0 0 1\n"), {}},
        {"negative weights", text("2 -1 0\n-1 2 0\n0 0 1\n"), {}},
        {"100 000 numbers a row", bomb("0 ", 100000), {"line 1", "100000 numbers"}},
    };
}

std::vector<HostileFile> group_files() {
    return {
        {"empty", text(""), {"no seed group"}},
        {"comments only", text("# 0 1\n\n"), {"no seed group"}},
        {"one member", text("0 1\n2\n"), {":2:", "at least two"}},
        {"a member twice", text("0 0\n"), {":1:", "twice"}},
        {"an agent who is not there", text("0 3\n"), {":1:", "agent"}},
        {"an agent of 1e30", text("0 1000000000000000000000000000000\n"), {":1:"}},
        {"a negative agent", text("0 -1\n"), {":1:"}},
        {"a word", text("0 one\n"), {":1:"}},
        {"two million groups", text(repeated("0 1\n", 2000000)), {"4132 members"}},
        {"a bomb of groups", bomb(repeated("0 1\n0 2\n", 10000), 1000), {"4132 members"}},
        {"a bomb of newlines", bomb(std::string(1 << 20, '\n'), 512), {"unpack"}},
    };
}

std::vector<HostileFile> budget_files() {
    return {
        {"empty", text(""), {"0 budgets for 3"}},
        {"too few", text("1\n2\n"), {"2 budgets for 3"}},
        {"too many", text("1\n2\n3\n4\n"), {":4:", "one budget more"}},
        {"a bomb of budgets", bomb(repeated("1\n", 10000), 1000), {":4:"}},
        {"zero", text("0\n1\n1\n"), {":1:"}},
        {"negative", text("1\n-1\n1\n"), {":2:"}},
        {"not a number", text("1\nnan\n1\n"), {":2:"}},
        {"infinite", text("1\ninf\n1\n"), {":2:"}},
        {"an agent twice", text("0 1\n0 1\n1 1\n"), {":2:", "twice"}},
        {"an agent who is not there", text("7 1\n"), {":1:", "agent"}},
        {"agents for some lines only", text("0 1\n1\n"), {":2:", "mixed"}},
        {"three words", text("0 1 2\n"), {":1:"}},
    };
}

HostileInputs texts_about_agents() {
    const auto view = [](const std::string& name, const std::string& asked) {
        return HostileInput{
            "view: " + name,
            [](const TemporaryFolder&) {},
            [asked](const TemporaryFolder&) { (void)parse_views("view", {asked}, triangle()); },
            {"view"},
            ExitCode::usage};
    };
    return {view("a name that does not exist", "everything"),
            view("a node that does not exist", "node:3"),
            view("a negative node", "node:-1"),
            view("a node of 1e30", "node:1000000000000000000000000000000"),
            view("no node", "node:"),
            view("a coalition of a word", "coalition:a,b"),
            view("a coalition twice", "coalition:1,1")};
}

}  // namespace

HostileInputs hostile_graph_files() {
    HostileInputs all;
    const auto add = [&](HostileInputs more) { all.insert(all.end(), more.begin(), more.end()); };
    const auto edges = [](const std::string& path) { (void)read_edge_list(path); };
    const auto neighbours = [](const std::string& path) { (void)read_neighbour_list(path, 0, 3); };
    const auto mixing = [](const std::string& path) { (void)make_mixing(triangle(), path); };
    const auto array = [](const std::string& path) { (void)read_npy(path); };
    const auto schedule = [](const std::string& path) {
        (void)read_mixing_schedule(triangle(), path);
    };
    const auto groups = [](const std::string& path) { (void)make_seed_groups(path, triangle()); };
    const auto budgets = [](const std::string& path) {
        PlanConfig config;
        config.budgets_file = path;
        (void)build_budgets(config, 3);
    };
    add(files_of("edge list", edges, no_files_of_a_stream()));
    add(files_of("edge list", edges, edge_lists()));
    add(files_of("array", array, no_files()));
    add(files_of("array", array, arrays()));
    add(files_of(
        "mixing", mixing, {{"a pipe", pipe(), {"is not a file"}}, {"a folder", folder(), {}}}));
    add(files_of("mixing", mixing, mixing_files()));
    add(files_of("schedule", schedule, no_files()));
    add(files_of(
        "schedule",
        schedule,
        {{"no stack",
          text(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }", doubles(12))),
          {"not a stack"}},
         {"no mixing",
          text(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }", doubles(9))),
          {"matrix 0"}}}));
    add(files_of("seed groups", groups, {{"a pipe", pipe(), {"is a pipe"}}}));
    add(files_of("seed groups", groups, group_files()));
    add(files_of("budgets", budgets, no_files_of_a_stream()));
    add(files_of("budgets", budgets, budget_files()));
    add(files_of("neighbours", neighbours, no_files_of_a_stream()));
    add(files_of(
        "neighbours",
        neighbours,
        {{"a word", text("1\ntwo\n"), {"line 2", "not an agent"}},
         {"an agent who is not there", text("3\n"), {"line 1", "not an agent"}},
         {"an agent of 1e30", text("1000000000000000000000000000000\n"), {"line 1"}},
         {"an edge between other agents", text("1 2\n"), {"line 1", "edge between other agents"}},
         {"a zero byte", text(std::string("1\n\0\n", 4)), {"line 2"}},
         {"a bomb of neighbours", bomb(repeated("1\n2\n", 10000), 1000), {"4194304"}},
         {"a bomb of newlines", bomb(std::string(1 << 20, '\n'), 512), {"unpack"}}}));
    add(texts_about_agents());
    return all;
}

}  // namespace sotto::test
