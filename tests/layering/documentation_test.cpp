// Files that the documentation names exist.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "layering/source_text.hpp"

namespace sotto::layering {
namespace {

namespace fs = std::filesystem;

/// Paths in a text that begin with a folder of the project and name a file by its ending.
std::set<std::string> files_named_in(const std::string& text) {
    static const std::regex path(
        R"((^|[^\w/.-])((?:src|include|tests|docs|bench|deploy|cmake|sotto|core|graph|plan|privacy|views|noise|trust|learn|net|agent|run|commands)/[\w/.-]*\.(?:hpp|cpp|md|py|txt|json|svg|png|ini|in|js)))");
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

std::vector<fs::path> pages() {
    std::vector<fs::path> pages{root / "README.md", root / "bench" / "README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    return pages;
}

TEST(Documentation, NamesFilesThatExist) {
    long named = 0;
    std::vector<std::string> missing;
    for (const fs::path& page : pages())
        for (const std::string& file : files_named_in(text_of(page))) {
            ++named;
            if (!exists_somewhere(file))
                missing.push_back(fs::relative(page, root).string() + ": " + file);
        }
    EXPECT_GT(named, 50) << "file names are no longer found";
    EXPECT_EQ(missing, std::vector<std::string>{});
}

TEST(DocumentationCheck, FindsFileNamesInText) {
    EXPECT_EQ(files_named_in(
                  "See docs/cli.md, `privacy/gdp.hpp` (src/run/task.cpp) and runs/x.json, a.md."),
              (std::set<std::string>{"docs/cli.md", "privacy/gdp.hpp", "src/run/task.cpp"}));
    EXPECT_FALSE(exists_somewhere("src/no_such_file.cpp"));
    EXPECT_TRUE(exists_somewhere("tests/layering/documentation_test.cpp"));
}

}  // namespace
}  // namespace sotto::layering
