"""Captions, and docs/figures.md: made whole from the tables, and the JSON files beside them that say how each was made."""
import json
import re

import absent
import common
import mpi_check
import verdicts
from figure import AGREES, DIFFERS, NOT_DECIDED, Claim
from rows import OldTable, Table, read_csv

# In a folder whose tables are partly of the old form, without the values of every seed.
MARKER = "MEASURE_AGAIN"


def made_of(figure, size, seconds, resumed, mpi=None):
    """How a table was made: what NAME.json beside it holds."""
    about = common.header()
    return {"size": size.name, "seconds": round(seconds), "resumed": resumed, "commit": about["commit"],
            "processor": about["machine"]["processor"], "cores": about["machine"]["cores"], "date": about["date"], "mpi": mpi}


def write_made(path, made):
    common.replace_file(path, json.dumps(made, indent=1) + "\n")


def read_made(path):
    return json.loads(path.read_text(encoding="utf-8"))


def made_line(figure, made):
    """The command, how long it took, on what, and whether MPI gives the same bits."""
    flag = "" if made["size"] == "default" else f" --{made['size']}"
    after = " after an interruption" if made["resumed"] else ""
    bits = f" Over MPI: {mpi_check.sentence(made['mpi'])}." if figure.checked else ""
    return (f"Made by `deploy/figures{flag} {figure.name}` in {made['seconds']} s{after}: commit {made['commit']}, {made['processor']}, "
            f"{made['cores']} cores, {made['date']}.{bits}")


def paragraphs(claims, published):
    """Claims by outcome, those of a paper or our own."""
    titles = {AGREES: "Agrees" if published else "Found", DIFFERS: "Differs from the paper" if published else "Not so",
              NOT_DECIDED: "Not decided"}
    grouped = {outcome: [str(claim) for claim in claims if claim.outcome() == outcome] for outcome in titles}
    return [f"**{titles[outcome]}.**{listed(texts)}" for outcome, texts in grouped.items() if texts]


def listed(texts):
    """One sentence, or a list."""
    return f" {texts[0]}." if len(texts) == 1 else "\n\n" + "\n".join(f"- {text}." for text in texts)


def caption_text(figure, table, size):
    """The part of a figure's section that follows from its rows and its size."""
    caption = figure.caption(table, size)
    parts = [f"**Paper.** {caption.paper}"] if caption.paper else []
    parts.append(f"**Here.** {caption.setting}")
    if size.smaller() and size.name != "full":
        whose = "the paper's" if caption.paper else "those of `--full`"
        parts.append(f"**Small.** Smaller than with `--full`, {whose} in brackets: {'; '.join(size.smaller())}.")
    parts += paragraphs(caption.claims, bool(caption.paper))
    if caption.notes:
        parts.append(f"**{'Set up otherwise' if caption.paper else 'Besides'}.** {caption.notes}")
    if caption.ours:
        parts.append(f"**Our curves.**{listed([described(text) for text in caption.ours])}")
    return "\n\n".join(capitalised(re.sub(r"[ \t]+", " ", part)) for part in parts)


def described(text):
    """A claim about our own curves says how it came out; what is only told does not."""
    return f"{text} [{text.outcome()}]" if isinstance(text, Claim) else str(text)


def capitalised(part):
    return re.sub(r"^(\*\*[^*]+\*\* |- )([a-z])(?! =|9)", lambda found: found[1] + found[2].upper(), part, flags=re.M)


def section(figure, table, made, folder):
    names = " and ".join([figure.name, *figure.aliases])
    return (f"## {names}: {figure.title}\n\n![{figure.name}]({folder}/{figure.name}.svg)\n\n"
            f"{caption_text(figure, table, figure.size(made['size']))}\n\n{made_line(figure, made)} "
            f"Numbers: [{figure.name}.csv]({folder}/{figure.name}.csv).\n")


INTRODUCTION = """# Published figures, made again

`deploy/figures NAME...` makes figures, `deploy/figures all` all of them (those below took {minutes:.0f} minutes
together), `deploy/figures list` names them. `--full` takes the papers' sizes (hours, C5 far longer), `--out DIR` writes
elsewhere, `--femnist DIR` says where LEAF's JSON files of FEMNIST are, `--check-mpi` repeats one training of a figure with one MPI rank an
agent and compares bits, `--redraw` makes pictures and this page again from the tables. Trainings that an interrupted one has done are not
done again. Data come from `SOTTO_DATA_DIR` (`deploy/fetch-data`); a figure whose data are missing is skipped and says so.
What a figure shows is computed by sotto (`plan`, `account`, `train`, `sweep`); `bench/figures` tabulates, compares and draws. The
sweep files there (`*.ini`) are made to be copied.

Papers: [W] Whisper D-SGD, [C] CorN-DSGD, [G] gossip averaging under varying threat models, [U] unified guarantees by matrix
factorization, [H] graph-homomorphic perturbations. Names are paper and number of the figure there.

How figures are compared: by one rule (`bench/figures/verdicts.py`), from the value of every seed in the tables. Two curves are paired
by seed (of graph, data and noise). Their differences, or where the axis is logarithmic the logarithms of their ratios (not where a value
is 0 or less), have a 95% interval (Student's t). They are

- the same, if the whole interval lies within the margin that is stated (without one: {tolerance:g}, relative);
- lower or higher, if it does not, and excludes 0;
- not decided otherwise.

A claim agrees if all its comparisons come out as it says, differs if one of them is decided otherwise, and is not decided in all other
cases. Numbers that were computed without chance have intervals of no width. Intervals are not widened for the number of comparisons: of
twenty between curves that do not differ one is expected to be decided by chance. Every number of a sentence about results is made from the
tables.

What holds for all figures:

- Budgets are spent as accounted: the noise that is injected is the noise that is accounted, with the clip that is accounted, and tests
  measure it on the messages. Weights are Metropolis, 1/(1 + larger degree), unless the caption says otherwise: the papers print
  1/(degree + 1), which is not doubly stochastic on irregular graphs (the published code of [W] uses the larger degree too).
- The papers print a closed form for the budget (`--calibration paper`), which at delta 1e-5 spends less than it could below epsilon 36
  and more above; the published code of [W] inverts its Theorem 2 (`rdp`); sotto's default is exact. Captions say which is used.
- Bands and bars are 95% intervals of the mean over seeds (Student's t), unless the caption says otherwise: they show spread, and
  comparisons are those of the rule. Colour, dash and point of a mechanism are the same in all pictures: `decor` is the published DECOR
  with the one-step objective, `corn one-step` the papers' Whisper/CorN, `cdp` the trusted aggregator; ours are `decor horizon` and `corn
  horizon`, which minimise the noise of 200 rounds instead of one, and `pairs q=1`, which gives every pair of agents a seed and withstands
  any one curious agent.
"""


def page_text(folder, figures):
    """The whole page, from the tables in the folder; a figure without a table, or with one of the old form, is named at the end."""
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
    parts = [INTRODUCTION.format(minutes=minutes, tolerance=verdicts.TOLERANCE), *sections, absent.section()]
    if missing:
        parts.append(f"## Not measured\n\n{', '.join(missing)}.\n")
    return "\n".join(parts)


def write_page(folder, figures):
    """The page beside the folder; the marker goes once no table of the old form is left."""
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
