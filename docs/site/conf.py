"""Sphinx configuration of the documentation site. deploy/site runs it on the folder that docs/site/collect.py fills."""
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))

project = "sotto"
html_title = "sotto"
html_theme = "furo"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
smartquotes = False  # "--option" stays as it is
highlight_language = "none"
exclude_patterns = ["static", "extra"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages that begin with a second-level heading

# Equations are written as LaTeX between dollars. Sphinx marks them for MathJax; KaTeX draws them, which is small
# enough to go with the site.
myst_enable_extensions = ["dollarmath"]
mathjax_path = "katex/katex.min.js"
mathjax_options = {"defer": "defer"}
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = [("katex/contrib/auto-render.js", {"defer": "defer"}), ("equations.js", {"defer": "defer"})]

autodoc_member_order = "bysource"
autodoc_typehints = "description"


def setup(app):
    app.config.html_static_path = [str(root / "docs" / "site" / "static"), str(pathlib.Path(app.srcdir) / "static")]
    app.config.html_extra_path = [str(pathlib.Path(app.srcdir) / "extra")]
