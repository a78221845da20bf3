"""Data of the papers that are not to be had here: what stands in, and what that changes. A section of docs/figures.md."""

# What is missing, where it is used, what stands in, what that changes.
ABSENT = [
    ("FEMNIST (LEAF)", "U4, U6", "nothing: the figure is made where `--femnist DIR` has LEAF's JSON files; a test makes it from "
                                 "generated files of "
     "the same form", "the claims of [U] figures 4 and 6 are not compared"),
    ("PeerTube graph, 271 servers", "U2, U5", "the graph of Mastodon servers, the other network of the fediverse at hand",
     "claims about PeerTube are compared on a graph with other distances and degrees"),
    ("pictures of the papers", "all", "the sentences of their texts", "where a text gives no number, only order and trend are compared"),
    ("formulas and settings lost in the text of [G]", "G1, G2, G3", "100 agents, p = 0.2; noise 4 at sensitivity 1 for G2 and G3",
     "levels are not comparable, order and trends are"),
    ("strength of regularisation on a9a, [W] and [C]", "C4", "none; the published scripts of [W] have no weight decay for a9a either",
     "none is known of"),
    ("class means, records and graph of [H]", "H1", "means of 0.5 in every feature, an Erdős–Rényi graph with p = 0.3", "levels are not "
     "comparable, order is"),
]


def section():
    lines = ["## Absent data", "", "| missing | figures | stands in | what that changes |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(entry)} |" for entry in ABSENT]) + "\n"
