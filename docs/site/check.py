#!/usr/bin/python3
"""check.py SITE: every link and anchor inside the site leads somewhere, and no page loads anything from elsewhere.

Links to other sites are not followed. Prints what is wrong, and ends with 1 if anything is.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

site = pathlib.Path(sys.argv[1]).resolve()
# Attributes whose files a browser loads by itself.
loading = {
    ("script", "src"), ("link", "href"), ("img", "src"), ("img", "srcset"), ("iframe", "src"), ("source", "src"),
    ("source", "srcset"), ("video", "src"), ("audio", "src"), ("embed", "src"), ("object", "data"), ("image", "href"),
    ("image", "xlink:href"), ("use", "href"), ("use", "xlink:href"),
}  # fmt: skip
# A browser loads nothing for these.
named_only = {"next", "prev", "index", "search", "canonical", "top", "up", "author", "genindex"}
# Doxygen 1.9 links to it where nested classes are private, and so not shown.
tolerated = {"#nested-classes"}
in_styles = re.compile(r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)|@import\s+['\"]([^'\"]+)['\"]")


class Page(html.parser.HTMLParser):
    """The names in a page that links lead to, what it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loads, self.in_style = {"", "top"}, [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.in_style = tag == "style"
        self.names.update(value for key, value in attributes if value and (key == "id" or (tag, key) == ("a", "name")))
        for key, value in attributes:
            if not value:
                continue
            if (tag, key) == ("a", "href") or (tag == "link" and set(values.get("rel", "").split()) & named_only):
                if key == "href" and value not in tolerated:
                    self.links.append(value)
            elif (tag, key) in loading:
                self.loads += [part.split()[0] for part in value.split(",")] if key == "srcset" else [value]
            elif key == "style":
                self.loads += loads_of_style(value)

    def handle_data(self, data):
        if self.in_style:
            self.loads += loads_of_style(data)


def loads_of_style(text):
    return [match[0] or match[1] for match in in_styles.findall(text)]


def is_elsewhere(address):
    return bool(re.match(r"[a-zA-Z][\w+.-]*:|//", address))


pages = {file: Page(file.read_text(errors="replace")) for file in sorted(site.rglob("*.html"))}
wrong, links = [], 0


def target_of(file, address):
    """The file, and the name in it, that an address in a file leads to."""
    path, _, name = address.partition("#")
    path = urllib.parse.unquote(path.partition("?")[0])
    target = (file.parent / path).resolve() if path else file
    return (target / "index.html" if target.is_dir() else target), urllib.parse.unquote(name)


def require(file, address):
    global links
    links += 1
    target, name = target_of(file, address)
    if not target.is_relative_to(site) or not target.exists():
        wrong.append(f"{file.relative_to(site)}: {address} leads nowhere")
    elif name and target in pages and name not in pages[target].names:
        wrong.append(f"{file.relative_to(site)}: {address}: no such anchor")


def require_own(file, address):
    if address.startswith(("data:", "javascript:")):
        return
    if is_elsewhere(address):
        wrong.append(f"{file.relative_to(site)}: loads {address}")
    elif not address.startswith("#"):
        require(file, address)


for file, page in pages.items():
    for address in page.links:
        if not is_elsewhere(address):
            require(file, address)
    for address in page.loads:
        require_own(file, address)
for file in site.rglob("*.css"):
    for address in loads_of_style(re.sub(r"/\*.*?\*/", "", file.read_text(errors="replace"), flags=re.DOTALL)):
        require_own(file, address)
for file in site.rglob("*.svg"):
    for address in Page(file.read_text(errors="replace")).loads:
        require_own(file, address)
print("\n".join(wrong) if wrong else f"{len(pages)} pages, {links} links and files inside: all there")
sys.exit(1 if wrong or not pages else 0)
