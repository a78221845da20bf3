"""The section of docs/figures.md on data that are not available here, and their stand-ins."""

# What is missing, in which figures, what stands in, and the effect.
ABSENT = [
    ("FEMNIST (LEAF)", "U4, U6", "nothing; `--femnist DIR` makes the figure from LEAF's JSON files",
     "claims of [U] figures 4 and 6 are not compared"),
    ("PeerTube graph, 271 servers", "U2, U5", "the graph of Mastodon servers", "other distances and degrees"),
    ("pictures of the papers", "all", "sentences of their texts", "without numbers, only order and trend are compared"),
    ("formulas and settings lost in the text of [G]", "G1, G2, G3", "100 agents, p = 0.2; noise 4 at sensitivity 1 for G2 and G3",
     "order and trends are comparable, levels are not"),
    ("strength of regularisation on a9a, [W] and [C]", "C4", "none, as in the published scripts of [W]", "none known"),
    ("class means, records and graph of [H]", "H1", "means of 0.5 in every feature, Erdős–Rényi with p = 0.3",
     "order is comparable, levels are not"),
]


def section():
    lines = ["## Absent data", "", "| missing | figures | stands in | effect |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(entry)} |" for entry in ABSENT]) + "\n"
