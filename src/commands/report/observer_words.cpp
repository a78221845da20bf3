#include "commands/report/observer_words.hpp"

#include "sotto/views/view_record.hpp"

namespace sotto {

namespace {

ObserverWords words_of(View::Kind kind) {
    ObserverWords words;
    if (kind == View::Kind::all_messages) {
        words.gist = "every message";
        words.nobody = "Whoever records every message";
        words.one = "One curious agent with every message";
        words.several = "colluding agents with every message";
        words.one_knows = ", with every message of the run and its seeds,";
        words.several_know = ", with every message of the run and their seeds,";
        return words;
    }
    const std::string from =
        kind == View::Kind::secure_sum ? ", from sums of what " : ", from what ";
    words.gist = "what neighbours send to them";
    words.one = "One agent, what neighbours send to it";
    words.several = "colluding agents, what neighbours send to them";
    words.one_knows = from + "its neighbours send and its seeds,";
    words.several_know = from + "their neighbours send and their seeds,";
    return words;
}

}  // namespace

ObserverWords observer_words(View::Kind kind, const Graph& graph) {
    ObserverWords words = words_of(kind);
    const std::array records{record_of({kind, {}}, graph),
                             record_of({kind, {0}}, graph),
                             record_of({kind, {0, 1}}, graph)};
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i] != nullptr) words.names[i] = records[i]->name;
    words.sees = (records.front() != nullptr ? records.front() : records.back())->help;
    return words;
}

}  // namespace sotto
