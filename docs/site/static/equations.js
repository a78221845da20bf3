// Draws what is written as LaTeX; KaTeX is beside this file, nothing comes from elsewhere.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".math"))
    renderMathInElement(place, {
      delimiters: [
        { left: "\\[", right: "\\]", display: true },
        { left: "\\(", right: "\\)", display: false },
      ],
      throwOnError: false,
    });
});
