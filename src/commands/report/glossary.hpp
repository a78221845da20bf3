#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// A term of the plain statement, for readers who do not know it. docs/glossary.md has the same.
struct GlossaryTerm {
    std::string name;     ///< as it is written in sentences
    std::string meaning;  ///< one or two sentences
};
[[nodiscard]] const std::vector<GlossaryTerm>& glossary();

/// A link to the term in the same page. @param shown other words for it in the sentence.
/// @throws std::out_of_range for a term that the glossary does not have.
[[nodiscard]] std::string term_link(std::string_view name, std::string_view shown = {});

/// All terms as HTML: a list in which every term is the target of its links.
[[nodiscard]] std::string glossary_html();

}  // namespace sotto
