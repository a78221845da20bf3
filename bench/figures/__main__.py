"""deploy/figures: makes published figures again (docs/figures.md)."""
import argparse
import os
import pathlib
import shutil
import time

import shared
import corn
import exchanges
import gossip
import graph_homomorphic
import servers
import unified
import whisper

FIGURES = [*whisper.FIGURES, *corn.FIGURES, *gossip.FIGURES, *unified.FIGURES, *graph_homomorphic.FIGURES, *servers.FIGURES,
           *exchanges.FIGURES]


def options():
    parser = argparse.ArgumentParser(prog="deploy/figures", description="Makes published figures again: docs/figures.md.")
    parser.add_argument("names", nargs="+", metavar="NAME", help="figures, or all, or list")
    parser.add_argument("--full", action="store_true", help="the papers' sizes: hours")
    parser.add_argument("--tiny", action="store_true", help="only see that everything works")
    parser.add_argument("--redraw", action="store_true", help="from the CSV that is there, without measuring")
    parser.add_argument("--out", type=pathlib.Path, default=shared.common.ROOT / "docs" / "figures",
                        help="folder of the pictures and tables; the page is beside it (default: docs/figures, docs/figures.md)")
    parser.add_argument("--from", dest="start", type=pathlib.Path, default=pathlib.Path.cwd(), help=argparse.SUPPRESS)
    parser.add_argument("--femnist", help="folder with LEAF's JSON files of FEMNIST")
    asked = parser.parse_args()
    asked.out = (asked.start / asked.out).resolve()
    asked.femnist = asked.femnist and str(asked.start / asked.femnist)
    return asked


def chosen(names):
    """Figures by name, in the order they are asked for."""
    if names == ["all"]:
        return FIGURES
    by_name = {name: figure for figure in FIGURES for name in (figure.name, *figure.aliases)}
    for name in names:
        if name not in by_name:
            print(f"deploy/figures: there is no figure '{name}'; there are: {' '.join(by_name)}, all, list",
                  file=shared.sys.stderr)
            raise SystemExit(2)
    return list(dict.fromkeys(by_name[name] for name in names))


def missing(figure, size):
    """What a figure needs and is not there."""
    for name in figure.needs:
        if name == "--femnist":
            if not size.femnist or not list(pathlib.Path(size.femnist).glob("*.json")):
                return "FEMNIST (LEAF's JSON files): --femnist DIR"
        elif not os.path.exists(shared.data_path(name)):
            return f"{name} in SOTTO_DATA_DIR (deploy/fetch-data)"
    return None


def main():
    asked = options()
    if asked.names == ["list"]:
        for figure in FIGURES:
            print(f"{'/'.join([figure.name, *figure.aliases]):6}  {figure.title}")
        return 0
    name = "full" if asked.full else "tiny" if asked.tiny else "default"
    out, page = asked.out, asked.out.with_suffix(".md")
    skipped = []
    for figure in chosen(asked.names):
        size = shared.Size(name, asked.femnist, shared.common.BUILD / "figures" / name / figure.name)
        print(f"{figure.name}: {figure.title}", flush=True)
        reason = missing(figure, size)
        if reason and not asked.redraw:
            print(f"{figure.name}: skipped, it needs {reason}", flush=True)
            skipped.append(figure.name)
            continue
        csv_file = out / f"{figure.name}.csv"
        if asked.redraw:
            rows, made = shared.read_csv(csv_file), shared.made_of(page, figure.name)
        else:
            start, resumed = time.monotonic(), size.work.exists()
            shared.write_csv(csv_file, figure, figure.measure(size))
            made = shared.made_line(figure, size, time.monotonic() - start, resumed)
            shutil.rmtree(size.work, ignore_errors=True)
            rows = shared.read_csv(csv_file)
        shared.draw(out / f"{figure.name}.svg", figure, rows)
        shared.update_page(page, FIGURES, {figure.name: shared.section(figure, rows, size, out.name, made)})
        print(f"{figure.name}: {csv_file.with_suffix('.svg')}; {made}", flush=True)
    if asked.names != ["all"] and len(skipped) == len(asked.names):
        return 3
    return 0


if __name__ == "__main__":
    try:
        shared.sys.exit(main())
    except KeyboardInterrupt:
        print("deploy/figures: interrupted; the same command does not train again what is done", file=shared.sys.stderr)
        shared.sys.exit(130)
