// Every row of docs/papers.md has a command that runs, or a reason why there is none.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include "page_folder.hpp"

namespace sotto::test {
namespace {

const std::vector<std::string> papers{"W", "C", "G", "U", "H", "N"};

struct Row {
    std::string paper, item, answer;  ///< the third column: a command, or a reason
    int line = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("docs/papers.md:{}: [{}] {}", line, paper, item);
    }
};

struct Page {
    std::vector<std::string> reasons;  ///< what a reason may begin with
    std::vector<Row> rows;
};

/// Columns of a line of a table, without the blanks around them.
std::vector<std::string> columns_of(const std::string& line) {
    std::vector<std::string> columns;
    std::istringstream rest(line.substr(1));
    for (std::string column; std::getline(rest, column, '|');) {
        const auto begin = column.find_first_not_of(' ');
        const auto end = column.find_last_not_of(' ');
        columns.push_back(begin == std::string::npos ? "" : column.substr(begin, end - begin + 1));
    }
    return columns;
}

Page page_of(const std::string& text) {
    Page page;
    std::string section;
    int number = 0, line_of_table = 0;
    for (const std::string& line : lines_of(text)) {
        ++number;
        if (line.starts_with("## ")) section = line.substr(3);
        line_of_table = line.starts_with('|') ? line_of_table + 1 : 0;
        if (line_of_table <= 2) continue;  // no line of a table, or its head
        const auto columns = columns_of(line);
        if (section.starts_with('['))
            page.rows.push_back(
                {section.substr(1, 1), columns[0], columns.size() == 4 ? columns[2] : "", number});
        else if (columns.size() == 2 && !columns[0].starts_with('['))
            page.reasons.push_back(columns[0]);
    }
    return page;
}

const Page& page() {
    static const Page read = page_of(content_of(SOTTO_SOURCE_DIR "/docs/papers.md"));
    return read;
}

bool is_command(const std::string& answer) {
    return answer.size() > 2 && answer.front() == '`' && answer.find('`', 1) == answer.size() - 1 &&
           answer.find("sotto ") != std::string::npos;
}

bool is_reason(const std::string& answer, const std::vector<std::string>& reasons) {
    return std::ranges::any_of(reasons, [&](const std::string& reason) {
        return answer.starts_with(reason + ": ") && answer.size() > reason.size() + 10;
    });
}

class CommandsOfPaper : public testing::TestWithParam<std::string> {};

TEST_P(CommandsOfPaper, EndWell) {
    const PageFolder folder;
    std::string skipped;
    for (const Row& row : page().rows) {
        if (row.paper != GetParam() || !is_command(row.answer)) continue;
        std::string command = row.answer.substr(1, row.answer.size() - 2);
        if (const std::string file = folder.missing_file(command); !file.empty()) {
            skipped += fmt::format("{}: there is no {}\n", row.name(), file);
            continue;
        }
        const bool refused = command.starts_with("! ");
        const Outcome outcome = folder.run(refused ? command.substr(2) : command);
        const bool well =
            refused ? outcome.exit_code == 2 || outcome.exit_code == 4 : outcome.exit_code == 0;
        EXPECT_TRUE(well) << row.name() << '\n' << command << '\n' << outcome.text();
    }
    // A test that failed is not taken for one that was skipped.
    if (skipped.empty()) return;
    if (HasFailure())
        std::cout << skipped;
    else
        GTEST_SKIP() << "all others end well, but SOTTO_DATA_DIR lacks data:\n" << skipped;
}

INSTANTIATE_TEST_SUITE_P(Papers,
                         CommandsOfPaper,
                         testing::ValuesIn(papers),
                         [](const auto& instance) { return instance.param; });

TEST(Papers, HaveACommandOrAReasonForEveryItem) {
    EXPECT_EQ(page().reasons.size(), 5U);
    std::map<std::string, int> items;
    for (const Row& row : page().rows) {
        ++items[row.paper];
        EXPECT_FALSE(row.item.empty()) << row.name();
        EXPECT_NE(is_command(row.answer), is_reason(row.answer, page().reasons))
            << row.name() << ": neither a command nor a reason: " << row.answer;
    }
    for (const std::string& paper : papers) EXPECT_GE(items[paper], paper == "N" ? 5 : 20) << paper;
}

TEST(PapersCheck, FindsRowsWithoutCommandOrReason) {
    const Page read = page_of(
        "| reason | meaning |\n|---|---|\n| no data | none |\n\n## [W] A paper\n\n"
        "| item | says | command | see |\n|---|---|---|---|\n"
        "| eq. 1 | x | `sotto plan` | |\n| eq. 2 | x | no data: the graph is lost | |\n"
        "| eq. 3 | x | | |\n| eq. 4 | x | a paper says so | |\n| eq. 5 | `a|b` | no data: two bars "
        "| |\n");
    ASSERT_EQ(read.rows.size(), 5U);
    EXPECT_EQ(read.reasons, (std::vector<std::string>{"no data"}));
    EXPECT_EQ(read.rows[0].name(), "docs/papers.md:9: [W] eq. 1");
    EXPECT_TRUE(is_command(read.rows[0].answer));
    EXPECT_TRUE(is_reason(read.rows[1].answer, read.reasons));
    for (std::size_t i = 2; i < 5; ++i) {
        EXPECT_FALSE(is_command(read.rows[i].answer)) << i;
        EXPECT_FALSE(is_reason(read.rows[i].answer, read.reasons)) << i;
    }
}

TEST(PapersCheck, SeesACommandThatFailsAndAFileThatIsMissing) {
    const PageFolder folder;
    EXPECT_EQ(folder.run("sotto plan --agents 4 --mechanism ldp").exit_code, 0);
    EXPECT_EQ(folder.run("for n in 4 0 4; do sotto plan --agents $n; done").exit_code, 2);
    EXPECT_EQ(folder.missing_file("sotto train --data nowhere.gz --out plan.json"), "nowhere.gz");
    EXPECT_EQ(folder.missing_file("sotto plan --seed-groups blocks.txt"), "");
}

}  // namespace
}  // namespace sotto::test
