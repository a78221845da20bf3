// Results that are kept in bench/results: pages show their tables, and no step size that they chose
// is the largest or smallest that was tried.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "layering/source_text.hpp"

namespace sotto::layering {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path results = root / "bench" / "results";

/// A table of a page, and where the page says that it comes from (bench/tables.py).
struct ShownTable {
    std::string file, words, table;
};

std::vector<ShownTable> tables_of(const std::string& page) {
    static const std::regex marked(
        R"(<!-- (bench/results/[\w.]+): ([^\n]+) -->\n((?:\|[^\n]*\n)+))");
    std::vector<ShownTable> tables;
    for (std::sregex_iterator i(page.begin(), page.end(), marked), end; i != end; ++i)
        tables.push_back({(*i)[1], (*i)[2], (*i)[3]});
    return tables;
}

/// The first table after the first line that has these words; empty if there is none.
std::string table_after(const std::string& text, const std::string& words) {
    std::istringstream lines(text);
    std::string table;
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
        if (found && line.starts_with('|'))
            table += line + '\n';
        else if (!table.empty())
            break;
        found = found || line.find(words) != std::string::npos;
    }
    return table;
}

/// Columns of the row of a table that begins with this one.
std::vector<std::string> row_of(const std::string& table, const std::string& first) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| " + first + " |")) continue;
        static const std::regex column(R"([^|]+)");
        return {std::sregex_token_iterator(line.begin(), line.end(), column), {}};
    }
    return {};
}

/// Numbers of a text, signs left out.
std::vector<double> numbers_of(const std::string& text) {
    static const std::regex number(R"(\d+\.\d+)");
    std::vector<double> numbers;
    for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i)
        numbers.push_back(std::stod(i->str()));
    return numbers;
}

/// Whether a cell of a grid of trainings took the largest or smallest step that was tried.
bool is_at_an_edge(const Json& cell) {
    if (!cell.contains("validation")) return false;
    std::vector<double> steps;
    for (const auto& [step, runs] : cell["validation"].items()) steps.push_back(std::stod(step));
    const auto [smallest, largest] = std::ranges::minmax(steps);
    const double chosen = cell["step_size"];
    return steps.size() > 1 && (chosen == smallest || chosen == largest);
}

TEST(KeptResults, AreTheTablesOfThePagesThatShowThem) {
    std::size_t shown = 0;
    for (const fs::path& page : documentation_pages())
        for (const ShownTable& table : tables_of(text_of(page))) {
            ++shown;
            ASSERT_TRUE(fs::exists(root / table.file)) << page << ": " << table.file;
            EXPECT_EQ(table.table, table_after(text_of(root / table.file), table.words))
                << page << ": python3 bench/tables.py puts in the table of " << table.file;
        }
    EXPECT_GE(shown, 10U) << "tables are no longer found";
}

TEST(KeptResults, ChoseNoStepAtTheEdgeOfWhatWasTried) {
    int grids = 0;
    for (const auto& entry : fs::directory_iterator(results)) {
        if (entry.path().extension() != ".json") continue;
        const Json kept = Json::parse(text_of(entry.path()));
        if (!kept.is_object() || !kept.contains("cells")) continue;
        ++grids;
        EXPECT_EQ(std::ranges::count_if(kept["cells"], is_at_an_edge), 0) << entry.path();
    }
    EXPECT_GE(grids, 10) << "grids are no longer found";
}

// "... without noise (same clip) 0.9475 ± 0.0014."
TEST(KeptResults, WithoutNoiseAreWhatThePageOfTasksSays) {
    static const std::regex kept("Without noise[^:]*: ([^.]*\\.\\d+ ± [^.]*\\.\\d+)");
    const std::string page = text_of(root / "docs/tasks.md");
    for (const char* table : {"mnist.txt", "cnn.txt", "housing.txt"}) {
        const std::string text = text_of(results / table);
        std::smatch found;
        ASSERT_TRUE(std::regex_search(text, found, kept)) << table;
        EXPECT_NE(page.find(found[1].str()), std::string::npos) << table << ": " << found[1];
    }
}

// "At epsilon 1 the accuracy of peers less that of a server with all data is +0.017 ± 0.012 and
// ..."
TEST(KeptResults, OfThePriceAreWhatTheReadmeSays) {
    const std::string readme = text_of(root / "README.md");
    std::string said = "less that\nof a trusted aggregator (`cdp`) is ";
    const std::string last = "price_softmax.txt";
    for (const std::string& task : {std::string("price_hospitals.txt"), last}) {
        const auto row = row_of(table_after(text_of(results / task), "less the others"), "1");
        ASSERT_EQ(row.size(), 5U) << task;
        const std::vector<double> cdp = numbers_of(row[2]);
        ASSERT_EQ(cdp.size(), 2U) << task;
        said += fmt::format("{}{:.3f} ± {:.3f}{}",
                            row[2].find('-') < row[2].find('.') ? "-" : "+",
                            cdp[0],
                            cdp[1],
                            task == last ? "." : " and ");
    }
    EXPECT_NE(readme.find(said), std::string::npos) << said;
}

TEST(KeptResultsCheck, ReadsTablesAndTheirSources) {
    const auto tables = tables_of(
        "a\n<!-- bench/results/x.md: Calibration `exact` -->\n| a |\n|---|\n\n| b |\n"
        "<!-- bench/results/y.txt: z -->\nno table\n");
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables[0].file, "bench/results/x.md");
    EXPECT_EQ(tables[0].words, "Calibration `exact`");
    EXPECT_EQ(tables[0].table, "| a |\n|---|\n");
    EXPECT_EQ(table_after("| no |\nwords here\n\n| a |\n| b | c |\n\n| d |\n", "words"),
              "| a |\n| b | c |\n");
    EXPECT_EQ(table_after("| a |\n", "words"), "");
    EXPECT_EQ(row_of("| x | 1 |\n| y | -0.5 ± 0.25 |\n", "y").size(), 2U);
    EXPECT_EQ(numbers_of(" -0.5 ± 0.25 "), (std::vector<double>{0.5, 0.25}));
}

TEST(KeptResultsCheck, SeesAStepAtAnEdge) {
    const auto cell = [](double step) {
        return Json{{"step_size", step}, {"validation", {{"0.1", 1}, {"0.05", 2}, {"0.2", 3}}}};
    };
    EXPECT_FALSE(is_at_an_edge(cell(0.1)));
    EXPECT_TRUE(is_at_an_edge(cell(0.05)));
    EXPECT_TRUE(is_at_an_edge(cell(0.2)));
    EXPECT_FALSE(is_at_an_edge(Json{{"step_size", 0.1}}));
}

}  // namespace
}  // namespace sotto::layering
