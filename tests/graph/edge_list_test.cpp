#include "graph/edge_list.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::TemporaryFile;

LoadedGraph load(std::string_view content) {
    return read_edge_list(TemporaryFile(content, ".edges").path());
}

std::vector<std::string> labels(const Graph& graph) {
    std::vector<std::string> result;
    for (int u = 0; u < graph.agents(); ++u) result.push_back(graph.label(u));
    return result;
}

std::string refusal(std::string_view content) {
    const TemporaryFile file(content, ".edges");
    const std::string message = message_of<DataError>([&] { (void)read_edge_list(file.path()); });
    EXPECT_TRUE(contains(message, file.path()));
    return message;
}

TEST(EdgeList, SeparatorsCommentsAndLineEndsDoNotMatter) {
    const Graph plain = load("1 2\n2 3\n3 4\n").graph;
    for (const char* content : {"1\t2\n2\t3\n3\t4",
                                "1,2\n2, 3\n3 ,4\n",
                                "# nodes: 4\n% sym\n\n  1 2\n2 3 # a note\r\n3 4\r\n",
                                "\xEF\xBB\xBF"
                                "1 2\n2 3\n3 4\n",
                                "4 3\n3 4\n3 2\n2 2\n2 1\n1 2\n"})
        EXPECT_EQ(load(content).graph.hash(), plain.hash()) << content;
}

TEST(EdgeList, RefusesWeightsWhichItDoesNotRead) {
    EXPECT_TRUE(contains(refusal("1 2\n2 3 0.5\n"), "line 2 has a third column, \"0.5\""));
    EXPECT_TRUE(contains(refusal("1,2,1\n2,3,1\n"), "third column"));
    EXPECT_TRUE(contains(refusal("1 2 {'weight': 3}\n"), "third column, \"{'weight':\""));
    EXPECT_TRUE(contains(refusal("1 2 {'weight': 3}\n"), "nx.write_edgelist"));
    EXPECT_EQ(load("1 2 {}\n2 3 {}\n").graph.hash(), load("1 2\n2 3\n").graph.hash())
        << "as networkx writes edges without data";
}

TEST(EdgeList, RefusesJson) {
    EXPECT_TRUE(contains(refusal(R"({"0": [1, 2], "1": [2]})"), "looks like JSON"));
    EXPECT_TRUE(contains(refusal("[[0,1],[1,2]]"), "looks like JSON"));
    EXPECT_TRUE(contains(refusal("<?xml version='1.0'?>\n<graphml/>\n"), "looks like GraphML"));
    EXPECT_TRUE(contains(refusal("graph [\n  node [\n"), "looks like GML"));
    EXPECT_TRUE(contains(refusal("graph [\n"), "nx.write_edgelist"));
    EXPECT_TRUE(contains(refusal("{\n\"0\": [1]\n}\n"), "line 1"));
}

TEST(EdgeList, NumbersAgentsNumericallyWhenAllLabelsAreIntegersElseAsText) {
    EXPECT_EQ(labels(load("10 9\n9 100\n-1 100\n").graph),
              (std::vector<std::string>{"-1", "9", "10", "100"}));
    EXPECT_EQ(labels(load("10 9\n9 100\n100 b\n").graph),
              (std::vector<std::string>{"10", "100", "9", "b"}));
}

TEST(EdgeList, TheOrderOfLinesAndOfTheTwoLabelsDoesNotMatter) {
    for (const auto& [name, graph] : test::sample_graphs({2, 8, 21})) {
        std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
        std::reverse(edges.begin(), edges.end());
        std::string text;
        for (const auto& [u, v] : edges) text += std::to_string(v) + " " + std::to_string(u) + "\n";
        EXPECT_EQ(load(text).graph.hash(), graph.hash()) << name;
    }
}

TEST(EdgeList, WrittenAndReadBackIsTheSameGraphWithTheSameLabels) {
    for (const auto& [name, graph] : test::sample_graphs({2, 3, 8, 21})) {
        const LoadedGraph back = load(format_edge_list(graph));
        EXPECT_EQ(back.graph.hash(), graph.hash()) << name;
        EXPECT_EQ(labels(back.graph), labels(graph)) << name;
    }
    // Dropping the component of "x" leaves integers only.
    for (const char* content : {"b a\nc b\nd\xC3\xA9 a\n", "9 10\n10 100\nx y\n", "7 007\n7 8\n"}) {
        const Graph graph = load(content).graph;
        const Graph back = load(format_edge_list(graph)).graph;
        EXPECT_EQ(back.hash(), graph.hash()) << content;
        EXPECT_EQ(labels(back), labels(graph)) << content;
    }
}

TEST(EdgeList, KeepsTheLargestComponentAndReportsWhatTheFileHeld) {
    const LoadedGraph loaded = load("1 2\n5 6\n6 7\n7 5\n6 5\n9 9\n");
    EXPECT_EQ(labels(loaded.graph), (std::vector<std::string>{"5", "6", "7"}));
    EXPECT_EQ(loaded.graph.edges().size(), 3U);
    EXPECT_EQ(loaded.report.labels, 6);
    EXPECT_EQ(loaded.report.edges, 4);
    EXPECT_EQ(loaded.report.self_loops, 1);
    EXPECT_EQ(loaded.report.components, 3);
    EXPECT_EQ(loaded.report.agents, 3);
}

TEST(EdgeList, AmongEqualComponentsTheOneWithTheLowestLabelIsKept) {
    EXPECT_EQ(labels(load("20 30\n3 10\n").graph), (std::vector<std::string>{"3", "10"}));
    EXPECT_EQ(labels(load("d c\nb e\n").graph), (std::vector<std::string>{"b", "e"}));
}

TEST(EdgeList, ACompressedFileIsReadDirectly) {
    const TemporaryFile file("", ".edges.gz");
    gzFile out = gzopen(file.path().c_str(), "wb");
    gzputs(out, "# compressed\n0 1\n1 2\n2 3\n");
    gzclose(out);
    EXPECT_EQ(read_edge_list(file.path()).graph.hash(), test::make(Topology::path, 4).hash());
}

TEST(EdgeList, UnusableFilesAreRefusedWithFileLineAndReason) {
    EXPECT_TRUE(contains(refusal("1 2\n3\n"), "line 2"));
    EXPECT_TRUE(contains(refusal("1 2\n\n3 # 4\n"), "line 3"));
    EXPECT_TRUE(contains(refusal("1,\n"), "line 1"));
    EXPECT_TRUE(contains(refusal(""), "no edge"));
    EXPECT_TRUE(contains(refusal("# only a comment\n"), "no edge"));
    EXPECT_TRUE(contains(refusal("1 1\n2 2\n"), "no edge"));
    EXPECT_TRUE(contains(refusal("source,target\n10,2\n2,3\n"), "column names"));
    EXPECT_TRUE(
        contains(message_of<DataError>([] { (void)read_edge_list("/nowhere/graph.edges"); }),
                 "/nowhere/graph.edges"));
}

TEST(EdgeList, ABinaryFileGivesOneReadableError) {
    std::string garbage;
    for (unsigned i = 0, state = 1; i < 4096; ++i) {
        state = state * 1664525U + 1013904223U;
        garbage.push_back(static_cast<char>(state >> 24));
    }
    for (const std::string& content : {garbage,
                                       std::string("\x7F"
                                                   "ELF\0\0 1 2\n",
                                                   11),
                                       std::string("a b\nc\0d e\n", 10)})
        EXPECT_TRUE(contains(refusal(content), "not text"));
    const std::string quoted = refusal("\xff\xfe\xfd\n");
    EXPECT_TRUE(std::all_of(quoted.begin(), quoted.end(), [](char c) { return c >= ' '; }));
}

TEST(EdgeList, ADamagedCompressedFileIsRefused) {
    const std::string content("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage that is no gzip",
                              30);
    EXPECT_FALSE(refusal(content).empty());
}

TEST(DirectedEdgeList, KeepsTheLargestStrongComponent) {
    const test::TemporaryFile file("1 2\n2 3\n3 1\n3 4\n4 5\n5 4\n");
    const LoadedGraph loaded = read_edge_list(file.path(), true);
    EXPECT_EQ(loaded.report.labels, 5);
    EXPECT_EQ(loaded.report.edges, 6);
    EXPECT_EQ(loaded.report.components, 2);
    EXPECT_EQ(loaded.graph.arcs(), (std::vector<Arc>{{0, 1}, {1, 2}, {2, 0}}));
    EXPECT_EQ(loaded.graph.label(2), "3");
    EXPECT_EQ(read_edge_list(file.path()).graph.agents(), 5);
    const test::TemporaryFile again(format_edge_list(loaded.graph));
    EXPECT_EQ(read_edge_list(again.path(), true).graph.hash(), loaded.graph.hash());
}

TEST(DirectedEdgeList, NeedsAgentsThatHearOfEachOther) {
    const test::TemporaryFile file("1 2\n2 3\n");
    EXPECT_TRUE(test::contains(
        test::message_of<DataError>([&] { (void)read_edge_list(file.path(), true); }),
        "no two agents can reach each other"));
}

std::vector<std::string> tokens_of(std::string_view line) {
    std::vector<std::string> tokens;
    for (auto token = take_token(line); !token.empty(); token = take_token(line))
        tokens.emplace_back(token);
    EXPECT_TRUE(line.empty());
    return tokens;
}

TEST(TakeToken, SeparatesByBlanksTabsAndCommas) {
    const std::vector<std::string> wanted{"a", "b-1", "c"};
    for (const char* line : {"a b-1 c", " a,b-1,c\r", "a\t , b-1   c  ", ",,a,b-1\v\f,c"})
        EXPECT_EQ(tokens_of(line), wanted) << line;
    EXPECT_TRUE(tokens_of("").empty());
    EXPECT_TRUE(tokens_of(" \t,\r").empty());
}

TEST(TakeToken, EndsTheLineAtATokenThatStartsAComment) {
    EXPECT_EQ(tokens_of("a b # c d"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(tokens_of("a %b"), std::vector<std::string>{"a"});
    EXPECT_EQ(tokens_of("a#1 b%"), (std::vector<std::string>{"a#1", "b%"}));
    EXPECT_TRUE(tokens_of("# all of it").empty());
}

TEST(ForMessage, IsShortAndPrintable) {
    EXPECT_EQ(for_message("plain text"), "plain text");
    EXPECT_EQ(for_message("a\x01\n\x7f\xe4z"), "a????z");
    EXPECT_EQ(for_message(std::string(40, 'x')), std::string(40, 'x'));
    EXPECT_EQ(for_message(std::string(41, 'x')), std::string(40, 'x') + "...");
}

TEST(LooksBinary, SeesBytesThatNoTextHolds) {
    EXPECT_FALSE(looks_binary("1 2\t3,4\r\f\v"));
    EXPECT_FALSE(looks_binary("Z\xc3\xbcrich"));
    for (const char byte : {'\x00', '\x01', '\x1b', '\x7f'})
        EXPECT_TRUE(looks_binary(std::string("1 2") + byte)) << static_cast<int>(byte);
}

}  // namespace
}  // namespace sotto
