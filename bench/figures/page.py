"""Captions, and docs/figures.md: made from the tables and from the JSON files beside them, which say how each was made."""
import json
import re

import absent
import common
import mpi_check
import verdicts
from figure import AGREES, DEPENDS, DIFFERS, NOT_DECIDED, Claim
from rows import OldTable, Table, read_csv

# A file in folders with tables that lack the values of every seed.
MARKER = "MEASURE_AGAIN"


def made_of(figure, size, seconds, resumed, mpi=None):
    """How a table was made: the content of NAME.json beside it."""
    about = common.header()
    return {"size": size.name, "seconds": round(seconds), "resumed": resumed, "commit": about["commit"],
            "processor": about["machine"]["processor"], "cores": about["machine"]["cores"], "date": about["date"], "mpi": mpi}


def write_made(path, made):
    common.replace_file(path, json.dumps(made, indent=1) + "\n")


def read_made(path):
    return json.loads(path.read_text(encoding="utf-8"))


def made_line(figure, made):
    """The command, its time and machine, and whether MPI gives the same bits."""
    flag = "" if made["size"] == "default" else f" --{made['size']}"
    after = " after an interruption" if made["resumed"] else ""
    bits = f" {mpi_check.sentence(made['mpi'])}." if figure.checked else ""
    return (f"Made by `deploy/figures{flag} {figure.name}` in {made['seconds']} s{after}: commit {made['commit']}, {made['processor']}, "
            f"{made['cores']} cores, {made['date']}.{bits}")


def paragraphs(claims, published):
    """Claims by outcome. published: they are a paper's, not our own."""
    titles = {AGREES: "Agrees" if published else "Holds", DIFFERS: "Differs from the paper" if published else "Does not hold",
              DEPENDS: "Depends on how it is read", NOT_DECIDED: "Not decided"}
    grouped = {outcome: [str(claim) for claim in claims if claim.outcome() == outcome] for outcome in titles}
    return [f"**{titles[outcome]}.**{listed(texts)}" for outcome, texts in grouped.items() if texts]


def listed(texts):
    """One sentence, or a list."""
    return f" {texts[0]}." if len(texts) == 1 and "\n" not in texts[0] else "\n\n" + "\n".join(f"- {text}." for text in texts)


def caption_text(figure, table, size):
    """The caption: all of a figure's section that follows from its rows and size."""
    caption = figure.caption(table, size)
    parts = [f"**Paper.** {caption.paper}"] if caption.paper else []
    parts.append(f"**Here.** {caption.setting}")
    if size.smaller():
        parts.append(f"**Small.** Smaller than with `--full` (in brackets): {'; '.join(size.smaller())}.")
    parts += paragraphs(caption.claims, bool(caption.paper))
    if caption.notes:
        parts.append(f"**{'Remarks' if caption.paper else 'Details'}.** {caption.notes}")
    if caption.ours:
        parts.append(f"**Our curves.**{listed([described(text) for text in caption.ours])}")
    return "\n\n".join(capitalised(re.sub(r"(?<=\S)[ \t]+", " ", part)) for part in parts)


EXPECTED = {AGREES: "as we expected", DIFFERS: "not as we expected", NOT_DECIDED: NOT_DECIDED}


def described(text):
    """The text of a claim about our own curves with its outcome, or of other comparisons."""
    return f"{text} [{EXPECTED[text.outcome()]}]" if isinstance(text, Claim) else str(text)


def capitalised(part):
    return re.sub(r"^(\*\*[^*]+\*\* |- )([a-z])(?! =|9)", lambda found: found[1] + found[2].upper(), part, flags=re.M)


def section(figure, table, made, folder):
    names = " and ".join([figure.name, *figure.aliases])
    return (f"## {names}: {figure.title}\n\n![{figure.name}]({folder}/{figure.name}.svg)\n\n"
            f"{caption_text(figure, table, figure.size(made['size'], kept=made.get('kept')))}\n\n{made_line(figure, made)} "
            f"Numbers: [{figure.name}.csv]({folder}/{figure.name}.csv).\n")


INTRODUCTION = """# Published figures, reproduced

Each section reproduces a figure of a paper and says what agrees with it, what differs, and what the trainings do not decide. The papers
are [W] Whisper D-SGD, [C] CorN-DSGD, [G] gossip averaging under varying threat models, [U] unified guarantees by matrix factorization and
[H] graph-homomorphic perturbations; figures have the paper's letter and number. We had their texts without pictures: compared is what
text and caption say, not the published curves, and what we call missing may be in a picture. Our own figures are
{ours}.

| command | what it does |
|---|---|
| `deploy/figures list` | names all figures |
| `deploy/figures NAME...` | makes these, or `all` (those below took {minutes:.0f} minutes) |
| `--full` | takes the papers' sizes where hours allow (each section says what is smaller) |
| `--out DIR` | writes to DIR and DIR.md |
| `--redraw` | makes pictures and page again from the tables |
| `--check-mpi` | repeats one training with one MPI rank per agent and compares bits |
| `--femnist DIR` | finds LEAF's JSON files of FEMNIST there |

Data come from `SOTTO_DATA_DIR` (`deploy/fetch-data`); figures without their data are skipped. An interrupted run keeps its finished
trainings. The sweep files of `bench/figures` (`*.ini`) can be copied for your own experiments.

## How figures are compared

One rule (`bench/figures/verdicts.py`) compares two curves, paired by seed (of graph, data and noise), by the 95% interval (Student's t) of
their differences or, on a logarithmic axis with positive values, of their ratios' logarithms:

- the same: the whole interval is within the margin (by default {tolerance:g}, relative);
- lower or higher: the interval is not within the margin, and excludes 0;
- not decided: otherwise.

Plans do not depend on chance but on the graph, and are compared on every graph: not above (not below) is lower (higher) on some graphs and
the same on the others; different by graph is anything else. Brackets then give the smallest and the largest value over graphs.

A claim agrees if every comparison comes out as it says, differs if one is decided otherwise, and is not decided in all other cases.
Margins other than the default are ours, and named.
Where a text leaves something open that decides a claim (a step size, a number of rounds, which model is drawn), the claim is compared
under every plausible reading, and if these come out differently, it depends on how it is read.
Numbers that do not depend on chance have intervals without width. Intervals are not widened for multiple comparisons: of twenty
comparisons of equal curves, expect one to be decided by chance.

## What holds for all figures

- The injected noise is the noise accounted for, with the same clip.
- Weights are Metropolis, 1/(1 + larger degree), as in the published code of [W], unless stated. [W] and [C] name Metropolis-Hastings weights and
  print 1/(degree + 1), which is not doubly stochastic on irregular graphs.
- Calibration: `exact` is sotto's default. `paper` is the papers' closed form, which [W] states for epsilon up to log(1/delta) = 11.5, and which at
  delta 1e-5 spends less than the budget below epsilon 36 and more above. `rdp` inverts Theorem 2 of [W], as its published code does.
- Step sizes are tuned for every cell, beyond the grid if the best one is at its edge, unless stated.
- Bands and bars are 95% intervals of the mean over seeds (Student's t), of paired differences where an axis shows differences, unless
  stated; they decide no comparison. Points of a picture are arithmetic means unless stated; ratios in the text are geometric means of the
  ratios at every seed. Where bars would cover each other, curves are drawn a little to the side.
- `decor` and `corn one-step` are the published variants (DECOR, and Whisper or CorN) with their one-step objective; `cdp` is the trusted
  aggregator. Ours are `decor horizon` and `corn horizon`, which minimise the noise of 200 rounds, and `pairs q=1`: problem (10) of [C]
  with a seed for every pair of agents (or every edge, where stated), which withstands any one curious agent; the choice of seeds is ours. In
  W1, C1 and C2 it minimises the noise of one step, in trainings that of 200 rounds, which is part of its lead over `decor` there.
"""



def our_own(figures):
    """Names of figures that are no paper's: all but a paper's letter with a number."""
    names = [figure.name for figure in figures if not re.fullmatch(r"[WCGUH]\d", figure.name)]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def page_text(folder, figures):
    """The whole page, from the tables in the folder. The end names figures without a table that holds the values of every seed."""
    sections, minutes, missing = [], 0.0, []
    for figure in figures:
        try:
            made = read_made(folder / f"{figure.name}.json")
            table = Table(figure, read_csv(folder / f"{figure.name}.csv"))
        except (FileNotFoundError, OldTable):
            missing.append(figure.name)
            continue
        sections.append(section(figure, table, made, folder.name))
        minutes += made["seconds"] / 60
    parts = [INTRODUCTION.format(ours=our_own(figures), minutes=minutes, tolerance=verdicts.TOLERANCE), *sections, absent.section()]
    if missing:
        parts.append(f"## Not measured\n\n{', '.join(missing)}.\n")
    return "\n".join(parts)


def write_page(folder, figures):
    """Writes the page beside the folder. Removes the marker once every table holds the values of every seed."""
    common.replace_file(folder.with_suffix(".md"), page_text(folder, figures))
    if (folder / MARKER).exists() and not old_tables(folder):
        (folder / MARKER).unlink()


def old_tables(folder):
    """Names of tables without the values of every seed."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        try:
            read_csv(path)
        except OldTable:
            found.append(path.stem)
    return found
