#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// A term of the plain statement and its explanation. docs/glossary.md has the same.
struct GlossaryTerm {
    std::string name;     ///< as written in sentences
    std::string meaning;  ///< one or two sentences
};
[[nodiscard]] const std::vector<GlossaryTerm>& glossary();

/// A link to the term in the same page. @param shown text of the link, if not the name.
/// @throws std::out_of_range for a term that is not in the glossary.
[[nodiscard]] std::string term_link(std::string_view name, std::string_view shown = {});

/// All terms as an HTML list; each term is the target of its links.
[[nodiscard]] std::string glossary_html();

}  // namespace sotto
