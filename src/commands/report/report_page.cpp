#include "commands/report/report_page.hpp"

#include <fmt/format.h>

#include "page/embedded.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Text between tags: <, > and & have names.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

}  // namespace

void require_page_libraries() {
    for (const auto& [library, package] :
         {std::pair("chart.js", "libjs-chart.js"), std::pair("d3.js", "node-d3")})
        if (embedded_file(library).empty())
            throw ConfigError(fmt::format(
                "report: this sotto was built without {}, which draws the page; install Debian "
                "packages libjs-chart.js and node-d3 ({} is missing), then configure and build "
                "again",
                library,
                package));
}

std::string page_of(const std::string& title, std::string data) {
    // Nothing in a string may end the element it stands in.
    replace_all(data, "</", "<\\/");
    replace_all(data, "<!--", "<\\u0021--");
    std::string page;
    const std::string_view frame = embedded_file("report.html");
    for (std::size_t at = 0; at < frame.size();) {
        const std::size_t begin = std::min(frame.find("{{", at), frame.size());
        page += frame.substr(at, begin - at);
        if (begin == frame.size()) break;
        const std::size_t end = frame.find("}}", begin);
        const std::string_view name = frame.substr(begin + 2, end - begin - 2);
        if (name == "title")
            page += escaped(title);
        else if (name == "data")
            page += data;
        else
            page += embedded_file(name);
        at = end + 2;
    }
    return page;
}

}  // namespace sotto
