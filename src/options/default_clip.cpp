#include "options/default_clip.hpp"

#include "config/config.hpp"

namespace sotto {

namespace {

constexpr const char *clip_of_records = "1", *step_of_records = "0.5";

bool protects_records(const OptionTexts& given) {
    const auto adjacency = given.find("adjacency");
    return adjacency != given.end() &&
           !protects_agents(parse_adjacency("--adjacency", adjacency->second));
}

}  // namespace

OptionTexts with_default_clip(OptionTexts given) {
    if (!protects_records(given)) return given;
    std::string& clip = given.try_emplace("clip-norm", clip_of_records).first->second;
    if (clip == "auto") clip = std::string("auto:") + clip_of_records;
    given.try_emplace("step-size", step_of_records);
    return given;
}

}  // namespace sotto
