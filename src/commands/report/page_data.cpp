#include "commands/report/page_data.hpp"

#include <sodium.h>

#include <string>
#include <vector>

#include "commands/report/observer_words.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

namespace {

std::string base64(const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    std::string text(sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(),
                      text.size(),
                      reinterpret_cast<const unsigned char*>(values.data()),
                      bytes,
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // the terminating zero
    return text;
}

Json json_of(const ObserverWords& words) {
    return {{"sees", words.sees},
            {"gist", words.gist},
            {"nobody", words.nobody},
            {"one", words.one},
            {"several", words.several},
            {"one_knows", words.one_knows},
            {"several_know", words.several_know},
            {"names", words.names}};
}

}  // namespace

Json page_graph(const BuiltTopography& built, const std::vector<int>& gone) {
    const Graph& graph = built.topography.graph;
    Json json;
    json["description"] = built.description;
    json["notes"] = built.notes;
    json["labels"] = Json::array();
    for (int u = 0; u < graph.agents(); ++u) json["labels"].push_back(graph.label(u));
    json["edges"] = Json::array();
    json["directed"] = graph.directed();
    for (const auto& [u, v] : graph.links()) json["edges"].push_back({u, v});
    json["gone"] = gone;
    return json;
}

Json page_figures(const ObserverFigures& figures, const Graph& graph) {
    const View view{figures.kind, {}};
    return {{"view", view.sound_for_training() ? "all-messages" : "partial"},
            {"guarantee", view.sound_for_training()},
            {"words", json_of(observer_words(figures.kind, graph))},
            {"argument", figures.argument.text},
            {"sound", figures.argument.sound},
            {"smallest", figures.smallest},
            {"observers", figures.observers},
            {"note", figures.note},
            {"epsilon", base64(figures.epsilon)}};
}

Json page_heat_map(const HeatMap& map) {
    std::vector<float> values;
    for (Eigen::Index i = 0; i < map.values.rows(); ++i)
        for (Eigen::Index j = 0; j < map.values.cols(); ++j)
            values.push_back(static_cast<float>(map.values(i, j)));
    return {{"title", map.title},
            {"unit", map.unit},
            {"text", map.text},
            {"axes", {map.rows, map.columns}},
            {"names", map.names},
            {"values", base64(values)}};
}

}  // namespace sotto
