#include "options/option_parser.hpp"

#include <set>

#include "config/run_fixtures.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

std::vector<WrittenGroup> groups_with_a_positional_option() {
    const auto option = [](OptionFacts facts, OptionKind kind, std::optional<std::string> text) {
        return written_option(facts, kind, "", std::move(text));
    };
    return {{"Test",
             {option({.name = "place", .help = "DIR", .positional = true}, OptionKind::value, {}),
              option({.name = "size", .help = "a number"}, OptionKind::value, "3"),
              option({.name = "loud", .help = "or not"}, OptionKind::flag, "false"),
              option({.name = "config", .help = "FILE"}, OptionKind::value, {}),
              option({.name = "json", .help = "FILE"}, OptionKind::output, {})}}};
}

OptionTexts parse(const std::vector<std::string>& arguments) {
    return parse_options(groups_with_a_positional_option(), arguments);
}

std::string message_of(const std::vector<WrittenGroup>& groups,
                       const std::vector<std::string>& arguments) {
    return test::message_of<ConfigError>([&] { (void)parse_options(groups, arguments); });
}

TEST(PositionalOption, TakesTheWordThatStandsByItself) {
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"here"}, {"--place", "here"}, {"--size", "3", "here"}, {"here", "--json", "-"}})
        EXPECT_EQ(parse(arguments).at("place"), "here");
    EXPECT_FALSE(parse({}).contains("place"));
}

TEST(PositionalOption, IsRefusedTwice) {
    for (const auto& arguments :
         std::vector<std::vector<std::string>>{{"a", "b"}, {"a", "--place", "b"}})
        expect_contains(message_of(groups_with_a_positional_option(), arguments), "--place");
}

TEST(PositionalOption, LeavesUnknownOptionsToTheirMessage) {
    expect_contains(message_of(groups_with_a_positional_option(), {"--sise", "here"}), "--size");
}

TEST(PositionalOption, StandsInTheLineOfUsage) {
    EXPECT_EQ(positional_usage(groups_with_a_positional_option()), " [PLACE]");
    EXPECT_EQ(positional_usage(with_general({})), "");
    expect_contains(help_text(groups_with_a_positional_option()),
                    "A word by itself is the value of --place.");
}

TEST(PositionalList, TakesAllWordsThatStandByThemselves) {
    const std::vector<WrittenGroup> groups{
        {"Test",
         {written_option({.name = "places", .help = "DIR", .positional = true},
                         OptionKind::list,
                         "",
                         std::nullopt),
          written_option({.name = "size", .help = "a number"}, OptionKind::value, "", "3")}}};
    EXPECT_EQ(parse_options(groups, {"here", "--size", "4", "there", "here"}).at("places"),
              "here there here");
    EXPECT_EQ(parse_options(groups, {"in two words", "there"}).at("places"),
              "\"in two words\" there");
    EXPECT_FALSE(parse_options(groups, {}).contains("places"));
    EXPECT_EQ(positional_usage(groups), " [PLACES...]");
    expect_contains(help_text(groups), "Words by themselves are values of --places.");
}

TEST(StrayWords, AreRefusedWhereNoOptionIsPositional) {
    expect_contains(message_of(with_general({}), {"here"}), "'here' is not an option");
}

TEST(ParsedOptions, AreThoseThatAreGiven) {
    EXPECT_EQ(parse({}), OptionTexts{});
    EXPECT_EQ(parse({"--size=4", "--loud", "--json"}),
              (OptionTexts{{"size", "4"}, {"loud", "true"}, {"json", "-"}}));
    EXPECT_EQ(parse({"--json", "-", "--size", "4"}), (OptionTexts{{"size", "4"}, {"json", "-"}}));
}

TEST(ParsedOptions, OfTheCommandLineWinOverThoseOfAFile) {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("a.ini", "size = 9\nplace = there\nloud = true\n");
    EXPECT_EQ(parse({"--size", "4", "--config", file}),
              (OptionTexts{{"size", "4"}, {"place", "there"}, {"loud", "true"}, {"config", file}}));
}

TEST(ParsedOptions, ComeFromATextInsteadOfTheFile) {
    const OptionTexts given = parse_options(groups_with_a_positional_option(),
                                            {"--config", "nowhere.ini"},
                                            ConfigText{"size = 9\n", "the text"});
    EXPECT_EQ(given.at("size"), "9");
    const auto refused = test::message_of<ConfigError>([] {
        (void)parse_options(
            groups_with_a_positional_option(), {}, ConfigText{"sise = 9\n", "the text"});
    });
    EXPECT_EQ(refused, "the text: there is no option 'sise'; did you mean 'size'?");
}

TEST(UnknownOptions, AreKnownByTheNamesOfOtherPrograms) {
    const auto groups = train_option_set().written();
    for (const char* word : {"--lr", "-lr", "--learning_rate"})
        EXPECT_EQ(message_of(groups, {word, "0.1"}),
                  "command line: there is no option '" + std::string(word) +
                      "'; did you mean '--step-size'?");
    expect_contains(message_of(groups, {"--max_grad_norm=1"}), "did you mean '--clip-norm'?");
    expect_contains(message_of(groups, {"--epsilom", "1"}), "did you mean '--epsilon'?");
    // A name that means two things, or is an option, helps nobody.
    std::set<std::string> names;
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options) {
            EXPECT_TRUE(names.insert(option.name).second) << option.name;
            for (const std::string& other : option.other_names)
                EXPECT_TRUE(names.insert(other).second) << other;
        }
}

TEST(HelpText, ShowsDefaultsWhereThereAreSome) {
    const std::string help = help_text(groups_with_a_positional_option());
    expect_contains(help, "Test:\n");
    expect_contains(help, "--size VALUE (=3)");
    expect_contains(help, "--place VALUE ");
    expect_contains(help, "--json [=FILE|-(=-)]");
}

TEST(GeneralOptionsOfACommand, StandBehindItsOwn) {
    const auto groups = with_general({{"Own", {}}});
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[1].title, "General");
    for (const char* name : {"config", "json", "quiet", "help"})
        EXPECT_NE(find_option(groups, name), nullptr) << name;
}

TEST(ReportStream, LeavesStandardOutputToTheJsonObject) {
    EXPECT_EQ(report_stream(read_general({})), stdout);
    EXPECT_EQ(report_stream(read_general({{"json", "file"}})), stdout);
    EXPECT_EQ(report_stream(read_general({{"json", "-"}})), stderr);
    EXPECT_EQ(report_stream(read_general({{"json", "-"}, {"quiet", "true"}})), nullptr);
}

TEST(JsonObject, GoesToItsFile) {
    const TemporaryFolder folder;
    const std::string file = folder.path("out.json");
    const GeneralOptions options = read_general({{"json", file}});
    require_json_writable(options);
    write_json(options, "{}\n");
    EXPECT_EQ(read_file(file), "{}\n");
    write_json(read_general({}), "nowhere");
}

TEST(JsonObject, IsRefusedEarlyWhereItCannotBeWritten) {
    const TemporaryFolder folder;
    const GeneralOptions options = read_general({{"json", folder.path("none/out.json")}});
    EXPECT_THROW(require_json_writable(options), ConfigError);
    EXPECT_NO_THROW(require_json_writable(read_general({{"json", "-"}})));
}

std::vector<WrittenGroup> groups() { return with_general(train_option_set().written()); }

TEST(OptionsBesideARun, AreThoseThatSayHowTheJobRuns) {
    EXPECT_NO_THROW(require_beside_run(
        groups(), {{"resume", "runs/a"}, {"threads", "2"}, {"json", "-"}, {"quiet", "true"}}, ""));
    const std::string refusal = message_of<ConfigError>([] {
        require_beside_run(
            groups(), {{"resume", "runs/a"}, {"rounds", "3"}}, "cannot be given with --resume");
    });
    expect_contains(refusal, "--rounds: cannot be given with --resume (allowed: ");
    expect_contains(refusal, "resume, without");
    EXPECT_EQ(refusal.find("rounds,"), std::string::npos);
}

TEST(OptionsBesideARun, MayBeMoreForOneCommand) {
    EXPECT_THROW(require_beside_run(groups(), {{"config", "x"}}, ""), ConfigError);
    EXPECT_NO_THROW(require_beside_run(groups(), {{"config", "x"}}, "", {"config"}));
}

}  // namespace
}  // namespace sotto
