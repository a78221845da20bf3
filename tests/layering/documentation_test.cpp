// Files and tests that the documentation names exist.

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "layering/source_text.hpp"

namespace sotto::layering {
namespace {

namespace fs = std::filesystem;

/// Paths in a text that begin with a folder of the project and name a file by its ending.
std::set<std::string> files_named_in(const std::string& text) {
    static const std::regex path(
        R"((^|[^\w/.-])((?:src|include|tests|docs|bench|deploy|cmake|sotto|core|graph|plan|privacy|views|design|noise|trust|sums|learn|net|agent|config|tasks|options|planning|store|account|training|audit|commands)/[\w/.-]*\.(?:hpp|cpp|md|py|txt|json|svg|png|ini|in|js)))");
    std::set<std::string> files;
    for (std::sregex_iterator i(text.begin(), text.end(), path), end; i != end; ++i)
        files.insert((*i)[2]);
    return files;
}

/// Documentation names sources by their path in the project, by the way they are included, or from
/// their room on.
bool exists_somewhere(const std::string& file) {
    for (const char* folder : {"", "src", "include", "include/sotto", "docs", "tests"})
        if (fs::exists(root / folder / file)) return true;
    return false;
}

TEST(Documentation, NamesFilesThatExist) {
    long named = 0;
    std::vector<std::string> missing;
    for (const fs::path& page : documentation_pages())
        for (const std::string& file : files_named_in(text_of(page))) {
            ++named;
            if (!exists_somewhere(file))
                missing.push_back(fs::relative(page, root).string() + ": " + file);
        }
    EXPECT_GT(named, 50) << "file names are no longer found";
    EXPECT_EQ(missing, std::vector<std::string>{});
}

/// The anchor that a heading gets on GitHub and in the site.
std::string anchor_of(const std::string& heading) {
    std::string anchor;
    for (const char c : heading)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == ' ')
            anchor += '-';
    return anchor;
}

std::set<std::string> anchors_of(const fs::path& page) {
    std::set<std::string> anchors;
    std::istringstream lines(text_of(page));
    for (std::string line; std::getline(lines, line);)
        if (const auto text = line.find_first_not_of('#'); text > 0 && text != std::string::npos)
            if (line[text] == ' ') anchors.insert(anchor_of(line.substr(text + 1)));
    return anchors;
}

TEST(Documentation, HasTheAnchorsThatSourcesAndPagesName) {
    static const std::regex reference(R"(((?:docs/|\.\./|\b)[\w-]+\.md)#([\w-]+))");
    std::vector<fs::path> texts = documentation_pages();
    for (const char* folder : {"src", "include", "bench", "python"})
        for (const fs::path& source : sources_below(root / folder)) texts.push_back(source);
    long named = 0;
    std::vector<std::string> missing;
    for (const fs::path& file : texts) {
        const std::string text = text_of(file);
        for (std::sregex_iterator i(text.begin(), text.end(), reference), end; i != end; ++i) {
            const fs::path page = fs::path((*i)[1].str()).filename();
            const fs::path at =
                fs::exists(root / "docs" / page) ? root / "docs" / page : file.parent_path() / page;
            if (!fs::exists(at)) continue;  // NamesFilesThatExist reports it
            ++named;
            if (!anchors_of(at).contains((*i)[2].str()))
                missing.push_back(fs::relative(file, root).string() + ": " + (*i)[0].str());
        }
    }
    EXPECT_GT(named, 80) << "anchors are no longer found";
    EXPECT_EQ(missing, std::vector<std::string>{});
}

/// Tests that a text names as `Suite.Name`.
std::set<std::string> tests_named_in(const std::string& text) {
    static const std::regex name(R"(`([A-Z]\w*\.[A-Z]\w*)`)");
    std::set<std::string> tests;
    for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i)
        tests.insert((*i)[1]);
    return tests;
}

/// Tests that the sources below `tests` define, as `Suite.Name`.
std::set<std::string> tests_defined() {
    static const std::regex definition(R"(TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\))");
    std::set<std::string> tests;
    for (const fs::path& source : sources_below(root / "tests")) {
        const std::string text = text_of(source);
        for (std::sregex_iterator i(text.begin(), text.end(), definition), end; i != end; ++i)
            tests.insert((*i)[1].str() + "." + (*i)[2].str());
    }
    return tests;
}

TEST(Documentation, NamesTestsThatExist) {
    const std::set<std::string> defined = tests_defined();
    EXPECT_GT(defined.size(), 1500U) << "tests are no longer found";
    std::vector<std::string> missing;
    for (const fs::path& page : documentation_pages())
        for (const std::string& test : tests_named_in(text_of(page)))
            if (!defined.contains(test))
                missing.push_back(fs::relative(page, root).string() + ": " + test);
    EXPECT_EQ(missing, std::vector<std::string>{});
}

TEST(Documentation, NamesATestForEveryClaimOfItsTableAboutSecurity) {
    const std::string page = text_of(root / "docs" / "security.md");
    std::istringstream table(page.substr(page.find("\n| claim | test |\n") + 1));
    std::vector<std::string> without;
    std::string row;
    long rows = -2;  // the head
    for (; std::getline(table, row) && row.starts_with('|'); ++rows)
        if (rows >= 0 && tests_named_in(row).empty()) without.push_back(row);
    EXPECT_GT(rows, 30) << "the table is no longer found";
    EXPECT_EQ(without, std::vector<std::string>{});
}

TEST(DocumentationCheck, FindsFileNamesInText) {
    EXPECT_EQ(files_named_in(
                  "See docs/cli.md, `privacy/gdp.hpp` (src/tasks/task.cpp) and runs/x.json, a.md."),
              (std::set<std::string>{"docs/cli.md", "privacy/gdp.hpp", "src/tasks/task.cpp"}));
    EXPECT_FALSE(exists_somewhere("src/no_such_file.cpp"));
    EXPECT_TRUE(exists_somewhere("tests/layering/documentation_test.cpp"));
}

}  // namespace
}  // namespace sotto::layering
