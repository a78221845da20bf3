#include "commands/report/plain_statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "commands/report/report_page.hpp"
#include "options/train_options.hpp"

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
        {"mu",
         "How far apart the two cases are in what an observer sees, in standard deviations of the "
         "noise. Squares add up over rounds, so that a share of mu^2 is a share of the budget: "
         "what "
         "takes 2% of it leaves 98%, though alone its mu, and about its epsilon, are a seventh of "
         "the "
         "whole. A mu of 1 corresponds to an epsilon of about 4.4 at delta 1e-5."},
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

namespace {

using Json = nlohmann::ordered_json;

/// What is protected, and what an observer may want to know about it.
struct ProtectedUnit {
    Adjacency adjacency;
    std::string what;      ///< "one record of one agent"
    std::string question;  ///< "that the record took part"
};

/// @param column that names the person of a record; empty: there is none.
ProtectedUnit unit_of(Adjacency adjacency, const std::string& column) {
    const std::string record = term_link("record"), agent = term_link("agent");
    const std::string one_record =
        column.empty()
            ? fmt::format(
                  "one {} of one {} (one patient, if every patient has one record)", record, agent)
            : fmt::format("everything that one {} has at one {}, all its {}s together",
                          html_text(column),
                          agent,
                          record);
    const std::string all_data = fmt::format("all data of one {}", agent);
    switch (adjacency) {
        case Adjacency::agent:
            return {adjacency,
                    all_data + ", whatever other data it might have instead",
                    "that the agent has these data and not any others"};
        case Adjacency::agent_zero_out:
            return {adjacency, all_data, "that the agent contributed its data"};
        case Adjacency::record:
            return {adjacency,
                    one_record + ", whatever other record might stand in its place",
                    column.empty() ? "that it was this record and not any other"
                                   : "that it was these records and not any others"};
        case Adjacency::record_zero_out:
            return {adjacency,
                    one_record,
                    column.empty() ? "that the record contributed" : "that the person contributed"};
        case Adjacency::record_add_remove:
            break;
    }
    return {adjacency,
            one_record,
            column.empty() ? "that the record took part" : "that the person took part"};
}

std::string number_text(double value, int digits = 3) {
    return fmt::format("{:.{}g}", value, digits);
}

std::string percent(double share) { return number_text(100 * share) + " %"; }

std::string paragraph(const std::string& html) { return fmt::format("<p>{}</p>\n", html); }

std::string part(std::string_view title, const std::string& html) {
    return fmt::format("<h3>{}</h3>\n{}", title, html);
}

std::string list(const std::vector<std::string>& items) {
    std::string html = "<ul>\n";
    for (const std::string& item : items) html += fmt::format("<li>{}</li>\n", item);
    return html + "</ul>\n";
}

/// @return infinity if the guarantee is infinite.
double epsilon_of(const Json& guarantee) {
    return guarantee.at("infinite").get<bool>() ? HUGE_VAL : guarantee.at("epsilon").get<double>();
}

std::string who_takes_part(const StatedRun& run) {
    const Json& ledger = run.ledger;
    const Json& rounds = ledger.at("rounds");
    std::string text = fmt::format(
        "{} {}s train a model together in {} {}s. Their data stay where they are: every agent "
        "sends models with {} to its neighbours in the {}. What else is known to others is listed "
        "below.",
        ledger.at("agents").size(),
        term_link("agent"),
        rounds.at("planned").get<long>(),
        term_link("round"),
        term_link("noise"),
        term_link("graph"));
    const long completed = rounds.at("completed").get<long>();
    if (completed != rounds.at("planned").get<long>())
        text += fmt::format(" {} rounds were completed when this was written.", completed);
    const std::string proof = ledger.value("authentication", "unauthenticated");
    text += proof == "unauthenticated"
                ? " Nobody proved who they are."
                : fmt::format(" Every agent proved to be one of the {}.", html_text(proof));
    return paragraph(text);
}

std::string what_is_protected(const ProtectedUnit& unit) {
    return paragraph(
        fmt::format("The protected unit ({}) is {}.", term_link("adjacency"), unit.what));
}

/// "epsilon 3.1, delta 1e-05"
std::string figure_of(const Json& guarantee, double delta) {
    const double epsilon = epsilon_of(guarantee);
    if (std::isinf(epsilon)) return fmt::format("{}: no protection", term_link("epsilon"));
    return fmt::format(
        "{} {}, {} {:g}", term_link("epsilon"), number_text(epsilon, 4), term_link("delta"), delta);
}

std::string against_whom(const Json& ledger) {
    const double delta = ledger.at("delta").get<double>();
    const Json& headline = ledger.at("headline");
    std::vector<std::string> lines{
        fmt::format("{}: {}. This is what the run promises.",
                    html_text(headline.at("observer").get<std::string>()),
                    figure_of(headline, delta))};
    for (const Json& other : ledger.at("observers"))
        lines.push_back(fmt::format("{}: {}.",
                                    html_text(other.at("observer").get<std::string>()),
                                    figure_of(other, delta)));
    return paragraph(fmt::format(
               "An {} is somebody who records every message. A {} is a participant that looks into "
               "what it receives; several of them make a {}.",
               term_link("outsider"),
               term_link("curious agent"),
               term_link("coalition"))) +
           list(lines);
}

/// "agent 2", and the name of its file of data if every agent has one.
std::string name_of_agent(const Json& manifest, int number) {
    const Json files =
        manifest.is_object() ? manifest.value("/data/agent_files"_json_pointer, Json()) : Json();
    const auto at = static_cast<std::size_t>(number);
    if (!files.is_array() || at >= files.size() || !files[at].is_string() ||
        files[at].get_ref<const std::string&>().empty())
        return fmt::format("agent {}", number);
    return fmt::format("agent {} ({})", number, html_text(files[at].get<std::string>()));
}

/// The epsilon of each participant, if they differ and are few; else empty.
std::string of_each(const StatedRun& run) {
    constexpr std::size_t most_told = 24;
    const Json& agents = run.ledger.at("agents");
    if (agents.size() > most_told) return {};
    double least = HUGE_VAL, most = 0;
    std::vector<std::string> told;
    for (const Json& agent : agents) {
        const double epsilon = epsilon_of(agent);
        least = std::min(least, epsilon);
        most = std::max(most, epsilon);
        told.push_back(fmt::format("{} for {}",
                                   number_text(epsilon, 4),
                                   name_of_agent(run.manifest, agent.at("agent").get<int>())));
    }
    // Figures that are printed alike count as equal.
    if (!(most - least > 5e-4 * most)) return {};
    const bool records = !protects_agents(run.config.plan.adjacency);
    return paragraph(fmt::format(
        "The promise is made for all, by the largest figure. The {} of each participant is {}.{}",
        term_link("epsilon"),
        fmt::join(told, ", "),
        records ? " One plan of noise keeps the promise for the most exposed of them; the others, "
                  "mostly those with more records, get more noise than they need."
                : ""));
}

/// States that a guess between two equally likely cases is right with probability at most
/// (e^epsilon + delta) / (1 + e^epsilon).
std::string epsilon_in_words(const Json& ledger, const ProtectedUnit& unit) {
    const double epsilon = epsilon_of(ledger.at("headline"));
    const double delta = ledger.at("delta").get<double>();
    if (std::isinf(epsilon))
        return paragraph(fmt::format(
            "There is no limit to what can be learnt: nothing is promised ({} is infinite).",
            term_link("epsilon")));
    const double factor = std::exp(epsilon);
    const std::string failing =
        delta == 0
            ? std::string()
            : fmt::format(
                  ", except with a probability of about {:g} ({})", delta, term_link("delta"));
    std::string text = fmt::format(
        "Whatever the observer believed before, somebody's odds {} change by at most a factor of "
        "{} (e to the power of {} {}){}. ",
        unit.question,
        number_text(factor),
        term_link("epsilon"),
        number_text(epsilon, 4),
        failing);
    text += fmt::format(
        "Whoever must decide by this run alone whether that is so, with even odds before, is right "
        "in at most {} of cases; a coin is right in 50 %. The promise is {}.",
        percent(delta + (1 - delta) * factor / (1 + factor)),
        term_link("differential privacy"));
    if (epsilon > 5)
        text +=
            " <strong>This is weak:</strong> at such an epsilon the promise alone does not keep "
            "somebody from being nearly certain.";
    return paragraph(text);
}

std::string what_is_not_protected(const Json& ledger,
                                  const ProtectedUnit& unit,
                                  const std::string& column) {
    const std::string several =
        column.empty() ? "Several records of the same person are protected less: odds may change "
                         "by the factor once for every record."
                       : "Somebody with records at several agents is protected less: odds may "
                         "change by the factor once for every agent.";
    std::vector<std::string> lines{
        "What is true of many people is learnt, as it is meant to be: it is also true of somebody "
        "who did not take part.",
        unit.adjacency == Adjacency::agent || unit.adjacency == Adjacency::agent_zero_out
            ? "That an agent takes part at all, the graph, the number of rounds and the options "
              "are "
              "known."
            : several +
                  " Which agents take part, the graph, the number of rounds and the options "
                  "are known.",
        "Losses and accuracies in the run's files and in the report are computed from raw data for "
        "the experimenter. They are not private and must not be published as if they were."};
    for (const Json& statement : ledger.at("statements"))
        lines.push_back(html_text(statement.get<std::string>()));
    return list(lines);
}

std::string assumptions(const Json& ledger) {
    const Json& noise = ledger.at("noise");
    return list(
        {fmt::format("Every agent runs the program as it is: it clips ({}), adds its {} and keeps "
                     "its {}s secret. A curious agent looks, but does not cheat.",
                     term_link("clipping"),
                     term_link("noise"),
                     term_link("seed")),
         noise.at("insecure").get<bool>()
             ? "<strong>The noise of this run follows from a seed that was given; whoever knows it "
               "can remove all noise.</strong>"
             : "Keys of the noise came from the operating system's source of randomness.",
         "It is assumed that the data are used in this run only. What several runs on the same "
         "data show, trials with other options among them, adds up; "
         "<code>sotto ledger DIR DIR</code> says to what.",
         fmt::format("The figures are those of the run's {} at the time this was written; while a "
                     "run goes on, they count all planned rounds.",
                     term_link("ledger"))});
}

std::string command_and_versions(const StatedRun& run) {
    const Json& made = run.manifest;
    std::string text =
        fmt::format("<pre><code>{}</code></pre>\n", html_text(command_of(run.config)));
    if (made.is_object())
        text += paragraph(html_text(fmt::format("The run was made by sotto {} (commit {}, {}).",
                                                made.value("version", "of unknown version"),
                                                made.value("commit", "unknown"),
                                                made.value("compiler", "unknown compiler"))));
    return text +
           paragraph(html_text(fmt::format("This statement was written by {}.", run.program)));
}

/// Quotes a word if a shell would not take it for one plain word.
std::string shell_word(const std::string& word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+%@";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::string command_of(const TrainConfig& config) {
    std::string command = "sotto train";
    const std::vector<WrittenGroup> defaults = train_option_set().written();
    for (const WrittenGroup& group : train_option_set().written(config))
        for (const WrittenOption& option : group.options) {
            if (!option.reproduces_run || !option.text ||
                option.text == find_option(defaults, option.name)->text)
                continue;
            command += " --" + option.name;
            if (option.name == "noise-seed")
                command += " SEED";
            else if (option.kind != OptionKind::flag)
                command += " " + shell_word(*option.text);
        }
    return command;
}

std::string plain_statement(const StatedRun& run) {
    const std::string& column = run.config.task.table.unit;
    const ProtectedUnit unit = unit_of(run.config.plan.adjacency, column);
    return part("Who takes part", who_takes_part(run)) +
           part("What is protected", what_is_protected(unit)) +
           part("Against whom", against_whom(run.ledger) + of_each(run)) +
           part("What that means", epsilon_in_words(run.ledger, unit)) +
           part("What is not protected", what_is_not_protected(run.ledger, unit, column)) +
           part("What this rests on", assumptions(run.ledger)) +
           part("Command and versions", command_and_versions(run));
}

}  // namespace sotto
