#!/usr/bin/python3
"""collect.py ROOT FOLDER: puts the pages of the documentation site together, as Sphinx reads them.

FOLDER/extra has Doxygen's output already. The README is the front page; a page that no section below names stands
under "More", so that a new page needs no line here.
"""
import itertools
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys

import furo

root, folder = map(pathlib.Path, sys.argv[1:])
katex = pathlib.Path("/usr/share/javascript/katex")
normalize = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")

sections = {
    "Guide": ["walkthrough", "data", "tasks", "sweeps", "report", "run-directory", "resuming", "cluster", "packages"],
    "Tutorials": ["tutorials/README", "tutorials/*"],
    "Commands": ["cli", "cli/*"],
    "Privacy": ["accounting", "ledger", "threat-models", "recorded-view", "security", "mistakes"],
    "Figures and results": ["results", "figures", "papers", "findings", "performance", "scaling"],
    "Libraries": ["library", "cpp", "python*", "equations"],
    "Development": ["architecture", "simulation", "decisions/*", "../bench/README", "../CHANGELOG"],
}


def linked(text, page):
    """Names of pages in running text ("docs/cluster.md") become links with the page's title."""
    up = "../" * (len(page.relative_to(folder).parts) - 1)

    def link(match):
        return f"[]({up}{match[0]})" if (root / match[0]).is_file() else match[0]

    parts = re.split(r"(^```.*?^```|`[^`\n]*`|\]\([^)\n]*\)|^#.*?$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if place % 2 else re.sub(r"(?<![\w/.-])docs/[\w/-]+\.md\b", link, part) for place, part in enumerate(parts)
    )


def copy_pages():
    shutil.copytree(root / "docs", folder / "docs", ignore=shutil.ignore_patterns("site", "examples"))
    (folder / "bench" / "results").mkdir(parents=True)
    for picture in (root / "bench" / "results").glob("*.svg"):
        shutil.copy(picture, folder / "bench" / "results")
    shutil.copy(root / "bench" / "README.md", folder / "bench")
    shutil.copy(root / "CHANGELOG.md", folder)
    (folder / "examples" / "heart").mkdir(parents=True)
    shutil.copy(root / "examples" / "heart" / "README.md", folder / "examples" / "heart")
    shutil.copy(root / "README.md", folder / "index.md")


def write_cpp_page():
    """What Doxygen made, and what it found undocumented."""
    said = (folder / "cpp-warnings.txt").read_text().splitlines()
    for line in said:
        if "error:" in line:
            sys.exit(f"Doxygen: {line}")
    missing = re.compile(r".*/include/(sotto/[^:]*):(\d+): warning: (?:Member |Compound )?(.*) is not documented\.$")
    found = sorted({(match[1], int(match[2]), match[3]) for line in said if (match := missing.match(line))})
    headers = sorted((root / "include" / "sotto").rglob("*.hpp"))
    text = [
        "# C++ reference",
        "",
        '<p><a href="../cpp/index.html">Classes and functions of the public headers</a>, made by Doxygen from '
        f"{len(headers)} headers.</p>",
        "",
        "[Accounting from another program](library.md) says how to link with them.",
        "",
        "## Public declarations without a comment of their own",
        "",
        f"{len(found)}: members that say by their name what they are, or share the comment above them.",
    ]
    for header, places in itertools.groupby(found, key=lambda place: place[0]):
        text += ["", f"`{header}`", ""]
        text += [f"- line {line}: `{what}`" for _, line, what in places]
    (folder / "docs" / "cpp.md").write_text("\n".join(text) + "\n")


def write_python_page():
    """The reference of the package in python/, from its docstrings, where it can be imported."""
    package = root / "python" / "sotto"
    if not (package / "__init__.py").is_file():
        return
    tried = subprocess.run(
        [sys.executable, "-c", "import sotto"], cwd=root / "python", capture_output=True, text=True, check=False
    )
    text = ["# Python reference", ""]
    if tried.returncode != 0:
        text += ["`import sotto` does not work where these pages were made:", "", "```", tried.stderr.strip(), "```"]
    modules = ["sotto"] + [
        f"sotto.{module.name}" for module in pkgutil.iter_modules([package]) if not module.name.startswith("_")
    ]
    for module in modules if tried.returncode == 0 else []:
        text += [f"## {module}", "", "```{eval-rst}", f".. automodule:: {module}", "   :members:", "```", ""]
    (folder / "docs" / "python-reference.md").write_text("\n".join(text) + "\n")


def navigation():
    docs = folder / "docs"
    named, lines = set(), []

    def section(caption, pages):
        lines.extend(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])

    for caption, patterns in sections.items():
        pages = []
        for pattern in patterns:
            found = sorted(docs.parent.glob(str(pathlib.PurePosixPath("docs") / pattern) + ".md"))
            pages += [page.resolve().relative_to(folder.resolve()).with_suffix("").as_posix() for page in found]
        pages = [page for page in dict.fromkeys(pages) if page not in named]
        named.update(pages)
        if pages:
            section(caption, pages)
    everything = (page.relative_to(folder).with_suffix("").as_posix() for page in folder.rglob("*.md"))
    if more := sorted(set(everything) - named - {"index"}):
        section("More", more)
    return "\n".join(lines) + "\n"


def write_static_files():
    """KaTeX; and the theme's style, which on Debian looks for another one at the root of a server."""
    static = folder / "static"
    (static / "katex" / "contrib").mkdir(parents=True)
    for file in ("katex.min.css", "katex.min.js", "contrib/auto-render.js"):
        shutil.copy(katex / file, static / "katex" / file)
    shutil.copytree(katex / "fonts", static / "katex" / "fonts")
    (static / "styles").mkdir()
    shutil.copy(normalize, static / "styles")
    theme = pathlib.Path(furo.__file__).parent / "theme" / "furo" / "static" / "styles" / "furo.css"
    style = theme.read_text().replace("/javascript/normalize.css/normalize.css", "normalize.css")
    (static / "styles" / "furo.css").write_text(style)


copy_pages()
for page in folder.rglob("*.md"):
    page.write_text(linked(page.read_text(), page))
write_cpp_page()
write_python_page()
with (folder / "index.md").open("a") as front:
    front.write(navigation())
write_static_files()
