#include "commands/report/plain_statement.hpp"

#include <gtest/gtest.h>

#include "commands/report/report_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

TEST(Glossary, HasATargetForEveryLink) {
    const std::string html = glossary_html();
    for (const GlossaryTerm& term : glossary()) {
        const std::string link = term_link(term.name, "these words");
        const std::size_t begin = link.find('#') + 1;
        expect_contains(link, ">these words</a>");
        expect_contains(
            html,
            "<dt id=\"" + link.substr(begin, link.find('"', begin) - begin) + "\">" + term.name);
    }
    EXPECT_THROW((void)term_link("jargon"), std::out_of_range);
}

TEST(Glossary, IsThatOfTheDocumentation) {
    const std::string page = read_file(SOTTO_SOURCE_DIR "/docs/glossary.md");
    for (const GlossaryTerm& term : glossary())
        expect_contains(page, "\n**" + term.name + "**: " + term.meaning + "\n");
}

StatedRun stated_run(TrainConfig config, const TemporaryFolder& folder) {
    config.run_directory = folder.path("run");
    train(config, 4);
    return {test::read_json(*config.run_directory + "/ledger.json"),
            test::read_json(*config.run_directory + "/manifest.json"),
            config,
            "sotto 0.0"};
}

TEST(PlainStatement, SaysWhoIsProtectedFromWhomAndWhatEpsilonMeans) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "pairs", 6);
    config.plan.epsilon = 1;
    config.plan.noise_std.reset();
    StatedRun run = stated_run(config, folder);
    run.ledger["headline"]["epsilon"] = 1.0;
    const std::string html = plain_statement(run);
    for (const char* part : {"Who takes part",
                             "What is protected",
                             "Against whom",
                             "What that means",
                             "What is not protected",
                             "What this rests on",
                             "Command and versions"})
        expect_contains(html, std::string("<h3>") + part + "</h3>");
    expect_contains(html, "any coalition of 1 agent, with all messages of all rounds");
    // e = 2.72 times the odds; e / (1 + e) = 73.1 % of guesses.
    expect_contains(html, "by at most a factor of 2.72");
    expect_contains(html, "right in at most 73.1 % of cases");
    expect_contains(html, "with a probability of about 1e-05");
    expect_contains(html, "This statement was written by sotto 0.0.");
    for (const auto& statement : run.ledger["statements"])
        expect_contains(html, statement.get<std::string>());
}

TEST(PlainStatement, SaysTheEpsilonOfEachWhereTheyDiffer) {
    const TemporaryFolder folder;
    StatedRun run = stated_run(quadratic_config(4, "ldp", 3), folder);
    EXPECT_EQ(plain_statement(run).find("for agent 1"), std::string::npos);
    run.ledger["agents"][1]["epsilon"] = 0.25;
    expect_contains(plain_statement(run), ", 0.25 for agent 1, ");
    run.manifest["data"]["agent_files"] = {"", "north<1>.csv", "", ""};
    expect_contains(plain_statement(run), ", 0.25 for agent 1 (north&lt;1&gt;.csv), ");
}

TEST(PlainStatement, SaysThatNothingIsPromised) {
    const TemporaryFolder folder;
    const std::string html = plain_statement(stated_run(quadratic_config(4, "none", 3), folder));
    expect_contains(html, "There is no limit to what can be learnt");
    EXPECT_EQ(html.find("by at most a factor"), std::string::npos);
}

TEST(PlainStatement, NamesTheUnitThatIsProtected) {
    const TemporaryFolder folder;
    StatedRun run = stated_run(quadratic_config(4, "ldp", 3), folder);
    expect_contains(plain_statement(run), "these data and not any others");
    run.config.plan.adjacency = Adjacency::record_add_remove;
    expect_contains(plain_statement(run), "that the record took part");
    expect_contains(plain_statement(run), "Several records of the same person are protected less");
}

TEST(PlainStatement, HasTheCommandWithoutANoiseSeed) {
    TrainConfig config;
    EXPECT_EQ(command_of(config), "sotto train");
    config.plan.epsilon = 3;
    config.noise_seed = 424242;
    config.task.data = "my data.csv";
    const std::string command = command_of(config);
    expect_contains(command, "--epsilon 3");
    expect_contains(command, "--data 'my data.csv'");
    expect_contains(command, "--noise-seed SEED");
    EXPECT_EQ(command.find("424242"), std::string::npos);
}

}  // namespace
}  // namespace sotto
