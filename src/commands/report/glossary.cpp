#include "commands/report/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sotto {

namespace {

std::string target_of(std::string_view name) {
    std::string target = fmt::format("term-{}", name);
    std::ranges::replace(target, ' ', '-');
    return target;
}

}  // namespace

const std::vector<GlossaryTerm>& glossary() {
    static const std::vector<GlossaryTerm> terms{
        {"adjacency",
         "The unit that is protected: one record, or all data of one agent. Epsilon says how "
         "little the run reveals about one such unit."},
        {"agent",
         "A participant that keeps its data to itself and trains a model of its own, for example a "
         "hospital."},
        {"clipping",
         "Before noise is added, every contribution is shortened to a length fixed in advance, so "
         "that none can stand out."},
        {"coalition", "Several curious agents who put together what they know."},
        {"curious agent",
         "A participant that follows the protocol and tries to learn about the others from what it "
         "receives and from the seeds it holds."},
        {"delta",
         "The small probability with which the promise of epsilon may fail. It should be well "
         "below one divided by the number of people."},
        {"differential privacy",
         "The promise that what an observer sees is almost as likely without one unit of data as "
         "with it. Epsilon and delta say how close to equally likely that is."},
        {"epsilon",
         "The measure of what can be learnt. Whatever an observer may conclude is at most e to the "
         "power of epsilon times as likely with one unit of data as without it, plus delta. A "
         "smaller epsilon is more private: 0 means that nothing can be learnt, and an infinite "
         "epsilon means no protection."},
        {"graph", "Who sends models to whom. Agents with a link between them are neighbours."},
        {"ledger",
         "The file in which a run says what it has revealed, and to whom: "
         "ledger.json."},
        {"mechanism",
         "The rule by which agents add noise, and which noise they share so that it cancels."},
        {"noise",
         "Random numbers that agents add to what they send, so that nobody can tell what is noise "
         "and what comes from data."},
        {"outsider",
         "Somebody who does not take part and records every message of every round, also called "
         "the eavesdropper."},
        {"partial view",
         "What one agent really sees: the messages of its neighbours and no others."},
        {"record", "One row of the data, for example one patient's."},
        {"round",
         "One step of the training, in which every agent sends its model to its "
         "neighbours."},
        {"seed",
         "A secret number from which noise is made. Whoever holds it can compute that noise and "
         "take it away."}};
    return terms;
}

std::string term_link(std::string_view name, std::string_view shown) {
    if (std::ranges::find(glossary(), name, &GlossaryTerm::name) == glossary().end())
        throw std::out_of_range(fmt::format("the glossary has no term '{}'", name));
    return fmt::format(
        "<a class=\"term\" href=\"#{}\">{}</a>", target_of(name), shown.empty() ? name : shown);
}

std::string glossary_html() {
    std::string html = "<dl class=\"glossary\">\n";
    for (const GlossaryTerm& term : glossary())
        html += fmt::format(
            "<dt id=\"{}\">{}</dt><dd>{}</dd>\n", target_of(term.name), term.name, term.meaning);
    return html + "</dl>\n";
}

}  // namespace sotto
