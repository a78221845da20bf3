#include "core/picture_style.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace sotto {

namespace {

using namespace picture_style;

constexpr std::array<int, 10> points{7, 6, 5, 4, 9, 8, 11, 10, 13, 12};
constexpr int dashes = 4;

/// The look of its own that a name has, or null.
const PictureLook* known_look(std::string name) {
    static const std::map<std::string, PictureLook> known{
        {"", {blue, 1, 7}},
        {"none", {grey, 3, 0}},
        {"cdp", {black, 2, 1}},
        {"ldp", {vermilion, 1, 4}},
        {"decor", {orange, 1, 8}},
        {"corn", {blue, 1, 7}},
        {"decor horizon", {orange, 4, 9}},
        {"corn one-step", {sky, 1, 6}},
        {"corn horizon", {blue, 1, 7}},
        {"corn one-step, exact", {sky, 4, 2}},
        {"pairs", {green, 1, 9}},
        {"pairs q=1", {green, 1, 9}},
        {"pairs q=2", {green, 2, 11}},
        {"pairs q=3", {green, 3, 8}},
        {"pairs, records in turn", {green, 4, 12}},
        {"mafalda", {purple, 1, 5}},
        {"space-time", {blue, 1, 13}},
        {"anti-pgd", {orange, 1, 10}},
        {"no shared seed (ldp)", {vermilion, 2, 0}},
        {"local DP", {vermilion, 2, 0}},
        {"all messages (LDP)", {vermilion, 2, 0}},
        {"a seed for every pair (190)", {green, 1, 0}},
        {"laplace", {orange, 1, 12}},
        {"homomorphic", {purple, 1, 5}},
        {"central aggregation, T/n", {black, 2, 0}},
        {"trusted aggregator", {black, 2, 1}},
        {"one server, all data", {black, 3, 0}},
        {"each agent alone", {purple, 1, 10}},
        {"constant sign ([G])", {orange, 1, 8}},
        {"certified", {blue, 2, 7}},
        {"exact accounting", {blue, 1, 7}},
        {"mean (least to largest)", {blue, 1, 7}},
        {"Muffliato's bound", {orange, 1, 5}},
        {"muffliato", {orange, 1, 5}},
        {"the paper's formula", {purple, 4, 12}},
        {"messages", {sky, 1, 11}},
        {"secure sums", {purple, 1, 5}},
        {"[G] Theorem 2", {purple, 2, 4}},
        {"[G] Theorem 3", {orange, 2, 12}},
        {"[G] Theorem 4", {black, 2, 6}},
        {"[G] thm 3", {orange, 2, 12}},
        {"[G] thm 4", {black, 2, 6}},
        {"Theorem 3", {orange, 1, 12}},
        {"Theorem 4", {black, 1, 6}},
        {"no better than zero", {grey, 3, 0}},
        {"n³", {grey, 3, 0}},
    };
    if (const std::size_t mark = name.find(" (ours)"); mark != std::string::npos)
        name.erase(mark, std::string_view(" (ours)").size());
    const auto found = known.find(name);
    return found == known.end() ? nullptr : &found->second;
}

using Looks = std::vector<std::pair<std::string, PictureLook>>;

/// Whether a curve has this dash and point, in whatever colour.
bool is_shaped(const Looks& looks, const PictureLook& look) {
    return std::ranges::any_of(looks, [&](const auto& known) {
        return known.second.dash == look.dash && known.second.point == look.point;
    });
}

bool is_taken(const Looks& looks, const PictureLook& look) {
    return std::ranges::any_of(looks, [&](const auto& known) { return known.second == look; });
}

/// The first of `values` that fewest of the curves have. @param of a curve's value.
template <class Values, class Value>
auto rarest(const Values& values, const Looks& looks, Value PictureLook::*of) {
    return *std::ranges::min_element(values, {}, [&](const auto& value) {
        return std::ranges::count_if(looks,
                                     [&](const auto& known) { return known.second.*of == value; });
    });
}

/// A look of this colour whose dash and point no curve has together; where all are taken, a look
/// that no curve has, of this colour if there is one; the same for all when there is none.
PictureLook free_look(const Looks& looks, const std::string& colour) {
    const auto used = std::ranges::count_if(
        looks, [&](const auto& known) { return known.second.colour == colour; });
    const PictureLook wanted{
        colour, 1 + static_cast<int>(used % dashes), rarest(points, looks, &PictureLook::point)};
    if (!is_shaped(looks, wanted)) return wanted;
    for (int dash = 1; dash <= dashes; ++dash)
        for (const int point : points)
            if (const PictureLook look{colour, dash, point}; !is_shaped(looks, look)) return look;
    std::vector<std::string> any{colour};
    any.insert(any.end(), colours.begin(), colours.end());
    for (const std::string& other : any)
        for (int dash = 1; dash <= dashes; ++dash)
            for (const int point : points)
                if (const PictureLook look{other, dash, point}; !is_taken(looks, look)) return look;
    return {colour, 1, 0};
}

}  // namespace

Looks looks_of(const std::vector<std::string>& curves) {
    Looks looks;
    std::vector<std::string> rest, others;
    const auto give = [&](const std::string& curve, const PictureLook* look) {
        if (look == nullptr || is_shaped(looks, *look)) return false;
        looks.emplace_back(curve, *look);
        return true;
    };
    const auto base_of = [](const std::string& curve) { return curve.substr(0, curve.find(':')); };
    for (const std::string& curve : curves)
        if (!give(curve, known_look(curve))) rest.push_back(curve);
    for (const std::string& curve : rest)
        if (!give(curve, known_look(base_of(curve)))) others.push_back(curve);
    std::map<std::string, std::string> colour_of;
    for (const std::string& curve : others) {
        const std::string base = base_of(curve);
        const PictureLook* own = known_look(base);
        const std::string& colour =
            colour_of
                .try_emplace(
                    base,
                    own != nullptr ? own->colour : rarest(colours, looks, &PictureLook::colour))
                .first->second;
        looks.emplace_back(curve, free_look(looks, colour));
    }
    std::ranges::sort(looks, {}, [&](const auto& known) {
        return std::ranges::find(curves, known.first) - curves.begin();
    });
    return looks;
}

}  // namespace sotto
