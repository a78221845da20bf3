#include "commands/report/report_page.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;

TEST(ReportPage, KeepsDataInsideItsElementAndFetchesNothing) {
    try {
        require_page_libraries();
    } catch (const ConfigError& error) {
        expect_contains(error.what(), "libjs-chart.js");
        GTEST_SKIP() << error.what();
    }
    const std::string page = page_of("report.html",
                                     {{"title", html_text("a<b>")},
                                      {"refresh", refresh_html(3)},
                                      {"statement", "<h3>Who takes part</h3>"},
                                      {"glossary", ""},
                                      {"data", page_json(R"({"x":"</script><!-- "})")}});
    expect_contains(page, "<title>a&lt;b&gt; - ");
    expect_contains(page, "<meta http-equiv=\"refresh\" content=\"3\">");
    EXPECT_EQ(refresh_html(0), "");
    expect_contains(page, "<h3>Who takes part</h3>");
    expect_contains(page, R"({"x":"<\/script><\u0021-- "})");
    EXPECT_EQ(page.substr(0, page.find("<script>")).find("{{"), std::string::npos)
        << "every place of the frame is filled";
    for (const char* fetches : {"<link", "src=", "@import", "url("})
        EXPECT_EQ(page.substr(0, page.find("<script>")).find(fetches), std::string::npos)
            << fetches;
}

}  // namespace
}  // namespace sotto
