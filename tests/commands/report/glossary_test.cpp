#include "commands/report/glossary.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto {
namespace {

using test::expect_contains;

TEST(Glossary, HasATargetForEveryLink) {
    const std::string html = glossary_html();
    for (const GlossaryTerm& term : glossary()) {
        const std::string link = term_link(term.name, "these words");
        const std::size_t begin = link.find('#') + 1;
        expect_contains(link, ">these words</a>");
        expect_contains(
            html,
            "<dt id=\"" + link.substr(begin, link.find('"', begin) - begin) + "\">" + term.name);
    }
    EXPECT_THROW((void)term_link("jargon"), std::out_of_range);
}

TEST(Glossary, IsThatOfTheDocumentation) {
    const std::string page = read_file(SOTTO_SOURCE_DIR "/docs/glossary.md");
    for (const GlossaryTerm& term : glossary())
        expect_contains(page, "\n**" + term.name + "**: " + term.meaning + "\n");
}

}  // namespace
}  // namespace sotto
