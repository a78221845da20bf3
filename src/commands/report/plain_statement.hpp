#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

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

/// What the plain statement is made from.
struct StatedRun {
    nlohmann::ordered_json ledger;
    nlohmann::ordered_json manifest;  ///< null if there is none
    TrainConfig config;
    std::string program;  ///< the version that writes the statement
};

/// A description of the run for people who decide whether it may take place, such as ethics boards:
/// who takes part, what is protected, against whom, epsilon in words, what is not protected,
/// assumptions, the command and versions. HTML content of a section, with links to the glossary.
[[nodiscard]] std::string plain_statement(const StatedRun& run);

/// The command that repeats the run, with the options that differ from their defaults. The value of
/// a noise seed is left out.
[[nodiscard]] std::string command_of(const TrainConfig& config);

}  // namespace sotto
