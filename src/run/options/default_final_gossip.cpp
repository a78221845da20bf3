#include "run/options/default_final_gossip.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sotto {

OptionTexts with_default_final_gossip(OptionTexts given) {
    struct Use {
        std::string option;
        std::string_view none;  ///< the text that asks for nothing
    };
    static const std::array<Use, 5> uses{{{"secure-sum", "off"},
                                          {"view", ""},
                                          {"record-view", ""},
                                          {"plan", ""},
                                          {"mixing-schedule", "fixed"}}};
    const bool asked = std::ranges::any_of(uses, [&](const Use& use) {
        const auto text = given.find(use.option);
        return text != given.end() && text->second != use.none;
    });
    if (!asked) given.try_emplace("final-gossip", "auto");
    return given;
}

}  // namespace sotto
