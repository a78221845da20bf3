#include "core/picture_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/json.hpp"

namespace sotto {

namespace {

PictureCurve curve_from(const std::string& name, const JsonValue& json) {
    PictureCurve curve{name, {}};
    for (const JsonValue& point : json.items()) {
        const std::vector<double> numbers = point.numbers();
        if (numbers.size() == 2)
            curve.points.push_back({numbers[0], numbers[1]});
        else if (numbers.size() == 4)
            curve.points.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
        else
            point.fail("[x, y] or [x, y, low, high]");
    }
    return curve;
}

PicturePanel panel_from(const JsonValue& json) {
    constexpr std::array keys{"title",
                              "x",
                              "y",
                              "curves",
                              "log_x",
                              "log_y",
                              "marks",
                              "columns",
                              "rows",
                              "bars",
                              "joined"};
    for (const auto& [key, value] : json.members())
        if (std::ranges::find(keys, key) == keys.end())
            value.fail(fmt::format("left out: a panel has {}", fmt::join(keys, ", ")));
    const auto flag = [&](const char* key, bool otherwise) {
        const auto found = json.find(key);
        return found ? found->boolean() : otherwise;
    };
    PicturePanel panel{.title = json.at("title").text(),
                       .x = json.at("x").text(),
                       .y = json.at("y").text(),
                       .curves = {},
                       .log_x = flag("log_x", false),
                       .log_y = flag("log_y", false)};
    panel.intervals_as_bars = flag("bars", false);
    panel.joined = flag("joined", true);
    if (const auto marks = json.find("marks")) panel.marks = marks->numbers();
    if (const auto columns = json.find("columns"))
        for (const JsonValue& word : columns->items()) panel.columns.push_back(word.text());
    if (const auto words = json.find("rows"))
        for (const JsonValue& word : words->items()) panel.rows.push_back(word.text());
    for (const auto& [name, points] : json.at("curves").members())
        panel.curves.push_back(curve_from(name, points));
    return panel;
}

}  // namespace

std::vector<PicturePanel> panels_from_json(std::string_view text) {
    const JsonDocument document(text);
    std::vector<PicturePanel> panels;
    for (const JsonValue& json : document.root().items()) panels.push_back(panel_from(json));
    return panels;
}

}  // namespace sotto
