#include "options/graph_options.hpp"

#include "config/config.hpp"
#include "options/option_set.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

namespace {

std::vector<Option<TopologySpec>> topology_options() {
    return {{{.name = "topology", .common = true, .help = "{}", .shapes_sums = true},
             bound(&TopologySpec::topology, named(one_of(topology_names()), parse_topology))},
            {{.name = "agents",
              .common = true,
              .other_names = {"nodes", "clients", "peers", "n"},
              .help = "number of agents (under mpirun: the number of ranks, or more, in which case "
                      "a rank hosts several)",
              .shapes_sums = true},
             bound(&TopologySpec::agents, whole(1, 100000))},
            {{.name = "edge-probability",
              .help = "erdos-renyi: probability of every edge, in (0, 1]",
              .shapes_sums = true},
             bound(&TopologySpec::edge_probability, any_real())},
            {{.name = "radius",
              .help = "geometric: two agents closer than this are connected",
              .shapes_sums = true},
             bound(&TopologySpec::radius, any_real())},
            {{.name = "graph-seed", .help = "seed of random topologies", .shapes_sums = true},
             bound(&TopologySpec::graph_seed, whole(0))}};
}

/// Rule names, or a file with a matrix.
AllowedValues mixing_words() {
    AllowedValues allowed = one_of(mixing_rule_names());
    allowed.words.emplace_back("FILE");
    return allowed;
}

/// Overridden by a named --mixing, which is read later.
Binding<GraphConfig> directed_binding() {
    Binding<GraphConfig> binding = bound(
        [](auto& graph) -> auto& { return graph.topology.directed; }, flag());
    binding.read = [read = std::move(binding.read)](
                       GraphConfig& graph, const std::string& option, const std::string& text) {
        read(graph, option, text);
        if (graph.topology.directed) graph.mixing = "push-sum";
    };
    return binding;
}

std::vector<Option<GraphConfig>> file_and_mixing_options() {
    return {{{.name = "directed",
              .help = "messages travel one way along an edge, from u to v for a line u v of an "
                      "edge list; topologies ring, torus, exponential and erdos-renyi",
              .details = R"(
A line `u v` of an edge list means that v receives the messages of u. The largest strongly connected component of the
graph is used. In a ring, agent u + 1 receives from agent u; in an exponential graph, the agents u + 2^k do; in a torus,
messages go right and down; erdos-renyi draws every ordered pair. Unless `--mixing` is given, it is `push-sum`, with
which all agents converge to the mean. With `row-stochastic` they converge to a weighted mean, and the weights are
printed. Mechanisms that correlate the noise of pairs (`decor`, `pairs`, groups of near neighbours) share seeds between
agents of which one receives from the other. A partial view shows what its members receive. Mechanisms that add noise to
messages are not possible with directed graphs.)",
              .shapes_sums = true},
             directed_binding()},
            {{.name = "graph",
              .common = true,
              .help = "edge list FILE instead of a topology (plain or .gz)",
              .details = R"(
A graph file is an edge list: two labels per line, and `#` starts a comment. Weights in a third column are refused. The
largest component is used, and a line of the output says so. Agents are numbered by ascending label (numerically if all
labels are integers).)",
              .shapes_sums = true},
             bound(&GraphConfig::file, file_path())},
            {{.name = "mixing",
              .help = "{}, or FILE (text or .npy)",
              .details = R"(
`optimised`: mixing weights and noise are optimised for each other, given the mechanism, utility, rounds, gossip steps,
coalitions and seed groups of `plan` and `train` (budgets have no influence), or given the noise of `--plan` FILE.
`sotto graph` plans no noise and assumes private independent noise and the default utility. The weights are symmetric,
lie on the edges of the graph, and some may be negative. They are the best local optimum that was found: 1 to 40% less
noise than with metropolis where edges are few (equations.md#mixing-weights-and-noise-together). The search takes about
a second for 20 agents and seconds for 100. All processes compute the same weights on processors of one kind; with
`--secure-sum` they must. It is not possible with schedules, nor with mechanisms that correlate rounds or add noise to
messages.

`row-stochastic`: every agent gives itself and the agents that it receives from equal weights. Agents converge to a
weighted mean, which on irregular graphs is not the mean of all. `push-sum`: every agent gives itself and the agents
that receive from it equal shares. Models are then sums, and what is learnt is the model divided by a number that every
agent computes from the graph (equations.md#directed-graphs). It is not possible with `--l2`, `--average` or departures.

A mixing file holds an n x n matrix, as text or `.npy`. Its rows sum to 1, and its entries are 0 where there is no edge.
Entries may be negative as long as no eigenvalue other than that of the mean has modulus above 1 (not with `zip-dl` and
`homomorphic`).)",
              .shapes_sums = true},
             bound(&GraphConfig::mixing, some_text(mixing_words()))},
            {{.name = "mixing-schedule",
              .help = "fixed, random (a fresh graph of the topology every round), one-peer "
                      "(exponential topology), or FILE.npy: mixing matrices of consecutive rounds, "
                      "one below the other",
              .details = R"(
Mixing changes from round to round on the union of the schedule's graphs; agents without an edge in a round send each
other nothing. `random` draws a new connected graph of a random topology every round (`--graph-seed`); other topologies
keep their shape and have their agents in random order. `one-peer` needs `--topology exponential`: in round t every
agent u averages with agent u + 2^t, which gives exact consensus after log2 n rounds for n = 2^k. FILE holds P matrices
n x n, one below the other; round t uses number t mod P. Plans are solved for the schedule, for up to 2000 rounds with
mechanisms that correlate rounds; mechanisms whose noise depends on the receiver are not possible. Partial views count
all neighbours of the union as heard in every round.)",
              .shapes_sums = true},
             bound(&GraphConfig::mixing_schedule,
                   some_text(among_others("", {"fixed", "random", "one-peer", "FILE.npy"})))}};
}

}  // namespace

OptionGroup<GraphConfig>& graph_options() {
    static OptionGroup<GraphConfig> group =
        option_group<GraphConfig>("Graph",
                                  {lifted<GraphConfig>(topology_options(), &GraphConfig::topology),
                                   file_and_mixing_options()});
    return group;
}

}  // namespace sotto
