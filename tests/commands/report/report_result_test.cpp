#include "commands/report/report_result.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

Report some_report() {
    Report report;
    report.page = std::string(1'500'000, 'x');
    report.observers = 7;
    report.missing = {"no metrics"};
    report.left_out = {"3 of 9"};
    report.seconds = 0.25;
    return report;
}

TEST(ReportResult, NamesThePageAndWhatIsNotInIt) {
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    print_report(file, some_report(), "run/report.html");
    std::rewind(file);
    std::string text(200, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    EXPECT_EQ(text,
              "report     run/report.html (1.5 MB, 7 observers, 0.25 s)\n"
              "missing    no metrics\n"
              "left out   3 of 9\n");
}

TEST(ReportResult, IsAJsonObjectOfTheSame) {
    EXPECT_EQ(json_of_report(some_report(), "run/report.html"),
              nlohmann::ordered_json::parse(R"({"path": "run/report.html", "bytes": 1500000,
                  "observers": 7, "missing": ["no metrics"], "left_out": ["3 of 9"],
                  "seconds": 0.25})"));
}

}  // namespace
}  // namespace sotto::cli
