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
              .help = "number of agents (under mpirun: the number of ranks, or more: then every "
                      "rank hosts several)",
              .shapes_sums = true},
             bound(&TopologySpec::agents, whole(1, 100000))},
            {{.name = "edge-probability",
              .help = "erdos-renyi: probability of every edge, in (0, 1]",
              .shapes_sums = true},
             bound(&TopologySpec::edge_probability, any_real())},
            {{.name = "radius",
              .help = "geometric: two agents nearer than this are joined",
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
              .help = "messages go one way along an edge: of an edge list's u v, v hears u; "
                      "topologies ring, torus, exponential and erdos-renyi",
              .details = R"(
A line `u v` of an edge list says that v hears u, and its largest strong component is used; in a ring agent u + 1 hears u, in an
exponential graph u + 2^k does, a torus goes right and down, erdos-renyi draws every ordered pair. Mixing, unless it is named, is
`push-sum`: agents come to the mean of all. With `row-stochastic` they come to a weighted mean, and the weights are said. Mechanisms
that correlate pairs (`decor`, `pairs`, near seed groups) share seeds between agents one of whom hears the other. Partial views see
what their members hear. Not with mechanisms that put noise on messages.)",
              .shapes_sums = true},
             directed_binding()},
            {{.name = "graph",
              .common = true,
              .help = "edge list FILE instead of a topology (plain or .gz)",
              .details = R"(
A graph file is an edge list: two labels a line, `#` comments; weights in a third column are refused. Its largest component is
used, and that is said; agents are numbered by ascending label (numerically when all are integers).)",
              .shapes_sums = true},
             bound(&GraphConfig::file, file_path())},
            {{.name = "mixing",
              .help = "{}, or FILE (text or .npy)",
              .details = R"(
`optimised`: weights and noise are made for each other, by whatever `plan` and `train` are told of mechanism, utility, rounds, gossip
steps, coalitions and seed groups (never by budgets), or for the noise of `--plan` FILE; `graph`, which plans no noise, takes
private independent noise and the default utility. Symmetric weights on the edges of the graph, some perhaps negative; the best
local optimum found, 1 to 40% less noise than with metropolis where edges are few (equations.md#mixing-weights-and-noise-together). It takes about a second for 20 agents,
seconds for 100. Every process comes to the same weights on processors of one kind; with `--secure-sum` all must. Not with schedules, nor with
mechanisms that correlate rounds or put noise on messages.

`row-stochastic`: every agent weighs itself and those it hears alike; agents come to a weighted mean, of irregular graphs not to that
of all. `push-sum`: every agent gives itself and those who hear it equal shares; models are sums, and what is learnt is the
model divided by a number that every agent works out from the graph (equations.md#directed-graphs). Not with `--l2`, `--average` or departures.

A mixing file is an n x n matrix, as text or `.npy`: rows sum to 1, entries are 0 where there is no edge. They may be negative, as long
as no eigenvalue beside that of the mean has modulus above 1 (not with `zip-dl` and `homomorphic`).)",
              .shapes_sums = true},
             bound(&GraphConfig::mixing, some_text(mixing_words()))},
            {{.name = "mixing-schedule",
              .help = "fixed, random (a fresh graph of the topology every round), one-peer "
                      "(exponential topology), or FILE.npy: mixing matrices of consecutive rounds, "
                      "one below the other",
              .details = R"(
Mixing that changes from round to round on the union of its graphs; agents without an edge in a round send each other
nothing. `random`: a fresh connected draw of a random topology every round (`--graph-seed`), other topologies with
their agents in random order. `one-peer`: on `--topology exponential`, in round t the mean with agent u + 2^t, exact
consensus after log2 n rounds for n = 2^k. FILE: P matrices n x n, one below the other; round t uses number t mod P.
Plans are solved for the schedule, up to 2000 rounds with mechanisms that correlate rounds; not with those whose noise depends on the receiver.
Partial views count all neighbours of the union as heard in every round.)",
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
