#include "commands/report/report_page.hpp"

#include <fmt/format.h>

#include "page/embedded.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

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

std::string html_text(const std::string& text) {
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

std::string refresh_html(int seconds) {
    if (seconds <= 0) return "";
    return fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", seconds);
}

std::string page_json(std::string data) {
    replace_all(data, "</", "<\\/");
    replace_all(data, "<!--", "<\\u0021--");
    return data;
}

std::string page_of(std::string_view frame, const std::map<std::string_view, std::string>& values) {
    std::string page;
    const std::string_view text = embedded_file(frame);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find("{{", at), text.size());
        page += text.substr(at, begin - at);
        if (begin == text.size()) break;
        const std::size_t end = text.find("}}", begin);
        const std::string_view name = text.substr(begin + 2, end - begin - 2);
        const auto value = values.find(name);
        page += value != values.end() ? std::string_view(value->second) : embedded_file(name);
        at = end + 2;
    }
    return page;
}

}  // namespace sotto
