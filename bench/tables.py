"""Tables of the documentation that are tables of kept results.

A page says where its table comes from in the line before it:

    <!-- bench/results/loss.md: Calibration `exact` -->

the file, and words of a line above the table in it. Every benchmark puts its tables in their pages (common.write_results);
python3 bench/tables.py does it for all. A test compares them (tests/layering/kept_results_test.cpp).
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(<!-- (bench/results/[\w.]+): (.+?) -->\n)((?:\|.*\n)+)")


def table_after(text, words):
    """The first table after the first line of the text that has these words."""
    found = re.search(r"^.*" + re.escape(words) + r"[^\n]*\n(?:(?!\|)[^\n]*\n)*?((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"bench: no table after '{words}'")
    return found[1]


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def put_tables(result=None):
    """Puts tables of this file of bench/results, or of all, in the pages that show them."""
    for page in pages():
        old = page.read_text(encoding="utf-8")
        new = MARKED.sub(lambda found: found[0] if result not in (None, found[2]) else
                         found[1] + table_after((ROOT / found[2]).read_text(encoding="utf-8"), found[3]), old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"bench: new tables in {page.relative_to(ROOT)}")


if __name__ == "__main__":
    put_tables()
