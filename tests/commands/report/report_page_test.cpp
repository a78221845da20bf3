#include "commands/report/report_page.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"

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

namespace sotto::cli {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

PageOptions read(const OptionTexts& given) {
    return OptionSet<PageOptions>().add(page_options()).read(given);
}

TEST(PageOptions, SayOfWhichRunAndHowMuch) {
    const TemporaryFolder folder;
    (void)folder.write("config.ini", as_ini(test::quadratic_config(5, "corn", 12)));
    const std::string run = folder.path().string();
    const ReportConfig config = report_config_of(
        read({{"run-directory", run}, {"coalition-size", "2"}, {"time-limit", "7"}}), 3);
    EXPECT_EQ(config.directory, run);
    EXPECT_EQ(config.run.plan.mechanism, "corn");
    EXPECT_EQ(config.coalition_size, 2);
    EXPECT_EQ(config.time_limit, 7);
    EXPECT_EQ(config.threads, 3);
    EXPECT_EQ(report_config_of(read({{"run-directory", run}}), 1).time_limit,
              ReportConfig().time_limit);
    expect_contains(message_of<ConfigError>([] { require_run_named("watch", PageOptions()); }),
                    "watch: which run? (example: sotto watch ");
    EXPECT_NO_THROW(require_run_named("watch", read({{"run-directory", run}})));
}

TEST(PageOptions, KeepAPageBesideTheRunForItsOwner) {
    const TemporaryFolder folder;
    const PageOptions beside = read({{"run-directory", folder.path().string()}});
    const PageOptions elsewhere =
        read({{"run-directory", folder.path().string()}, {"out", folder.path("out.html")}});
    for (const PageOptions& options : {beside, elsewhere})
        write_page(options, page_file(options, "live.html"), "page");
    const auto mode = [&](const char* name) {
        return std::filesystem::status(folder.path(name)).permissions() &
               std::filesystem::perms(077);
    };
    EXPECT_EQ(mode("live.html"), std::filesystem::perms::none);
    EXPECT_NE(mode("out.html"), std::filesystem::perms::none);
}

}  // namespace
}  // namespace sotto::cli
