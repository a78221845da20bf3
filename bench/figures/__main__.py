"""deploy/figures: makes published figures again, for docs/figures.md."""
import argparse
import os
import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import common
import mpi_check
import page
import pictures
import rows
import running
import corn_plans
import corn_seeds
import corn_trained
import exchanges
import gossip
import gossip_trained
import graph_homomorphic
import growth
import kept_figures
import kept_peers
import servers
import unified
import unified_trained
import weights
import whisper

FIGURES = [figure for module in (whisper, corn_plans, corn_seeds, corn_trained, gossip, gossip_trained, unified, unified_trained,
                                 graph_homomorphic, servers, exchanges, weights, growth, kept_figures,
                                 kept_peers) for figure in module.FIGURES]


def options():
    parser = argparse.ArgumentParser(prog="deploy/figures", description="Makes published figures again: docs/figures.md.")
    parser.add_argument("names", nargs="+", metavar="NAME", help="figures, or all, or list")
    parser.add_argument("--full", action="store_true", help="the papers' sizes: hours")
    parser.add_argument("--tiny", action="store_true", help="only see that everything works")
    parser.add_argument("--redraw", action="store_true", help="pictures and the page again from the tables that are there, "
                                                              "without measuring")
    parser.add_argument("--check-mpi", action="store_true", help="after measuring, or with --redraw alone: one training with one MPI rank "
                                                                 "an agent, bits compared")
    parser.add_argument("--out", type=pathlib.Path, default=common.ROOT / "docs" / "figures",
                        help="folder of the pictures and tables; the page is beside it (default: docs/figures, docs/figures.md)")
    parser.add_argument("--from", dest="start", type=pathlib.Path, default=pathlib.Path.cwd(), help=argparse.SUPPRESS)
    parser.add_argument("--femnist", help="folder with LEAF's JSON files of FEMNIST")
    asked = parser.parse_args()
    asked.out = (asked.start / asked.out).resolve()
    asked.femnist = asked.femnist and str(asked.start / asked.femnist)
    return asked


def chosen(names):
    """The figures with these names, in this order."""
    if names == ["all"]:
        return FIGURES
    by_name = {name: figure for figure in FIGURES for name in (figure.name, *figure.aliases)}
    for name in names:
        if name not in by_name:
            print(f"deploy/figures: there is no figure '{name}'; there are: {' '.join(by_name)}, all, list", file=sys.stderr)
            raise SystemExit(2)
    return list(dict.fromkeys(by_name[name] for name in names))


def missing(figure, size):
    """The first data that a figure needs and that are missing, or None."""
    for name in figure.needs:
        if name == "--femnist":
            if not size.femnist or not list(pathlib.Path(size.femnist).glob("*.json")):
                return "FEMNIST (LEAF's JSON files): --femnist DIR"
        elif not os.path.exists(running.data_path(name)):
            return f"{name} in SOTTO_DATA_DIR (deploy/fetch-data)"
    return None


def measured(figure, size, out):
    """Measures a figure into its table, and returns how it was made."""
    start, resumed = time.monotonic(), size.work.exists()
    rows.write_csv(out / f"{figure.name}.csv", figure, figure.measure(size))
    made = page.made_of(figure, size, time.monotonic() - start, resumed)
    shutil.rmtree(size.work, ignore_errors=True)
    return made


def made_or_kept(figure, size, asked):
    """How the table of a figure was made, now or before; None if there is no table to redraw."""
    kept = asked.out / f"{figure.name}.json"
    if not asked.redraw:
        made = measured(figure, size, asked.out)
    elif kept.exists():
        made = page.read_made(kept)
    else:
        return None
    if asked.check_mpi and figure.checked:
        size.work.mkdir(parents=True, exist_ok=True)
        made["mpi"] = mpi_check.check(figure.checked(size))
        shutil.rmtree(size.work, ignore_errors=True)
    page.write_made(kept, made)
    return made


def make(figure, asked, size_name):
    """Makes one figure, and returns whether it was made."""
    kept = asked.out / f"{figure.name}.json"
    if asked.redraw and kept.exists():
        size_name = page.read_made(kept)["size"]
    size = figure.size(size_name, asked.femnist, common.BUILD / "figures" / size_name / figure.name)
    print(f"{figure.name}: {figure.title}", flush=True)
    reason = missing(figure, size) if not asked.redraw or asked.check_mpi else None
    if reason:
        print(f"{figure.name}: skipped, it needs {reason}", flush=True)
        return False
    made = made_or_kept(figure, size, asked)
    if made is None:
        print(f"{figure.name}: skipped, {kept} is not there: measure it", flush=True)
        return False
    pictures.draw(asked.out / f"{figure.name}.svg", figure, rows.read_csv(asked.out / f"{figure.name}.csv"))
    page.write_page(asked.out, FIGURES)
    print(f"{figure.name}: {asked.out / figure.name}.svg; {page.made_line(figure, made)}", flush=True)
    return True


def main():
    asked = options()
    if asked.names == ["list"]:
        for figure in FIGURES:
            print(f"{'/'.join([figure.name, *figure.aliases]):10}  {figure.title}")
        return 0
    name = "full" if asked.full else "tiny" if asked.tiny else "default"
    figures = chosen(asked.names)
    done = [make(figure, asked, name) for figure in figures]
    if asked.redraw:
        page.write_page(asked.out, FIGURES)
    return 3 if asked.names != ["all"] and not any(done) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except rows.OldTable as error:
        print(f"deploy/figures: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("deploy/figures: interrupted; the same command does not train again what is done", file=sys.stderr)
        sys.exit(130)
