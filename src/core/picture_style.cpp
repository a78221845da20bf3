#include "core/picture_style.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sotto {

namespace {

PictureStyle parsed(std::string_view text) {
    const auto json = nlohmann::json::parse(text);
    const auto& pixels = json.at("pixels");
    PictureStyle style{pixels.at("width"),
                       pixels.at("one_panel"),
                       pixels.at("height"),
                       pixels.at("above"),
                       pixels.at("below"),
                       pixels.at("letter"),
                       pixels.at("line"),
                       pixels.at("sample"),
                       json.at("most_named_at_ends"),
                       json.at("terminal"),
                       json.at("line"),
                       json.at("thin_line"),
                       json.at("point"),
                       json.at("start"),
                       {},
                       json.at("points_of_others"),
                       {}};
    const auto& colours = json.at("colours");
    for (const std::string name : json.at("colours_of_others"))
        style.colours.push_back(colours.at(name));
    for (const auto& [name, look] : json.at("curves").items())
        style.of_curve[name] = {colours.at(look.at(0).get<std::string>()),
                                look.at(1).get<int>(),
                                look.at(2).get<int>()};
    return style;
}

using Looks = std::vector<std::pair<std::string, PictureLook>>;

bool is_taken(const Looks& looks, const PictureLook& look) {
    return std::ranges::any_of(looks, [&](const auto& known) { return known.second == look; });
}

/// The first of `values` that fewest of the curves have. @param of a curve's value.
template <class Value>
Value rarest(const std::vector<Value>& values, const Looks& looks, Value PictureLook::*of) {
    return *std::ranges::min_element(values, {}, [&](const Value& value) {
        return std::ranges::count_if(looks,
                                     [&](const auto& known) { return known.second.*of == value; });
    });
}

constexpr int dashes = 4;

/// A look that no curve has, of this colour if there is one; the same for all when there is none.
PictureLook free_look(const Looks& looks, const std::string& colour) {
    const PictureStyle& style = picture_style();
    std::vector<std::string> colours{colour};
    colours.insert(colours.end(), style.colours.begin(), style.colours.end());
    for (const std::string& other : colours)
        for (int dash = 1; dash <= dashes; ++dash)
            for (const int point : style.points)
                if (const PictureLook look{other, dash, point}; !is_taken(looks, look)) return look;
    return {colour, 1, 0};
}

}  // namespace

const PictureStyle& picture_style() {
    static const PictureStyle style = parsed(picture_style_text());
    return style;
}

Looks looks_of(const std::vector<std::string>& curves) {
    const PictureStyle& style = picture_style();
    Looks looks;
    std::vector<std::string> others;
    for (const std::string& curve : curves)
        if (const auto own = style.of_curve.find(curve);
            own != style.of_curve.end() && !is_taken(looks, own->second))
            looks.emplace_back(curve, own->second);
        else
            others.push_back(curve);
    std::map<std::string, std::string> colour_of;
    for (const std::string& curve : others) {
        const std::string base = curve.substr(0, curve.find(':'));
        const auto own = style.of_curve.find(base);
        const std::string& colour =
            colour_of
                .try_emplace(base,
                             own != style.of_curve.end()
                                 ? own->second.colour
                                 : rarest(style.colours, looks, &PictureLook::colour))
                .first->second;
        const auto used = std::ranges::count_if(
            looks, [&](const auto& known) { return known.second.colour == colour; });
        PictureLook look{colour,
                         1 + static_cast<int>(used % dashes),
                         rarest(style.points, looks, &PictureLook::point)};
        if (is_taken(looks, look)) look = free_look(looks, colour);
        looks.emplace_back(curve, look);
    }
    std::ranges::sort(looks, {}, [&](const auto& known) {
        return std::ranges::find(curves, known.first) - curves.begin();
    });
    return looks;
}

}  // namespace sotto
