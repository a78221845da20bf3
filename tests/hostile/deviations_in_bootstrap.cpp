#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <regex>
#include <sstream>
#include <utility>

#include "hostile/deviations.hpp"

namespace sotto::test {

namespace {

/// Where the parts of one agent's announcement begin, from its end.
constexpr std::size_t commitment = 32, nonce = 64, identity = 96, identity_flag = 97, agent = 133,
                      roster = 133 + 8 + 32;

Deviation says(const std::string& name,
               Gathered when,
               const std::function<std::string(std::string own)>& what) {
    return {.name = name, .gathered = [when, what](Gathered kind, std::string own) {
                return kind == when ? what(std::move(own)) : own;
            }};
}

Deviation announces(const std::string& name,
                    std::size_t from_end,
                    const std::function<void(char*)>& change) {
    return says(name, Gathered::announcement, [from_end, change](std::string own) {
        change(own.data() + own.size() - from_end);
        return own;
    });
}

void flip(char* byte) { *byte = static_cast<char>(*byte ^ 1); }

Deviation announces_agent(const std::string& name, std::int32_t number) {
    return announces(name, agent, [number](char* at) { std::memcpy(at, &number, sizeof number); });
}

std::string cut(std::string own) {
    own.pop_back();
    return own;
}

std::vector<Deviation> handshakes() {
    return {
        announces_agent("announces_agent_0", 0),
        announces_agent("announces_agent_7", 7),
        announces_agent("announces_agent_minus_1", -1),
        says("announces_nobody",
             Gathered::announcement,
             [](std::string own) {
                 own.resize(own.size() - agent);
                 return own.substr(0, own.size() - 8) + std::string(8, '\0');
             }),
        says("announces_four_billion_agents",
             Gathered::announcement,
             [](std::string own) {
                 own[own.size() - agent - 4] = 1;
                 return own;
             }),
        says("speaks_another_protocol",
             Gathered::announcement,
             [](std::string own) {
                 own[9] = 'x';
                 return own;
             }),
        says("announces_garbage",
             Gathered::announcement,
             [](const std::string& own) { return "sotto.handshake." + own; }),
        announces("commits_to_another_share", commitment, flip),
        announces("changes_its_nonce", nonce, flip),
        announces("shows_an_unknown_identity", identity, flip),
        announces("shows_no_identity", identity_flag, [](char* at) { std::memset(at, 0, 33); }),
        announces("has_another_roster", roster, flip),
        announces("shows_the_identity_of_agent_1",
                  identity,
                  [](char* at) {
                      const std::string hex = std::getenv("SOTTO_TEST_IDENTITY");
                      for (std::size_t i = 0; i < 32; ++i)
                          at[i] = static_cast<char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
                  }),
        says("confirms_another_transcript",
             Gathered::confirmation,
             [](std::string own) {
                 flip(own.data());
                 return own;
             }),
        says(
            "does_not_sign",
            Gathered::confirmation,
            [](std::string own) { return own.substr(0, 32) + std::string(own.size() - 32, '\0'); }),
        says("cuts_its_confirmation", Gathered::confirmation, cut),
        // As if it had been told another announcement of rank 0 than others.
        {.name = "was_told_something_else",
         .received =
             [](Gathered kind, std::vector<std::string>& all) {
                 if (kind == Gathered::announcement) flip(&all[0][all[0].size() - nonce]);
             }},
        {.name = "has_no_randomness",
         .start =
             [] {
                 static randombytes_implementation same{};
                 same.implementation_name = [] { return "the same bytes again and again"; };
                 same.random = [] { return std::uint32_t{0x42424242}; };
                 same.buf = [](void* const buffer, const std::size_t size) {
                     std::memset(buffer, 0x42, size);
                 };
                 randombytes_set_implementation(&same);
             }},
    };
}

std::vector<Deviation> seeds() {
    const auto flipped_at = [](std::size_t from_end) {
        return [from_end](std::string own) {
            flip(own.data() + own.size() - from_end);
            return own;
        };
    };
    return {
        says("seals_another_share", Gathered::seeds, flipped_at(3)),
        says("cuts_its_share", Gathered::seeds, cut),
        says("cuts_what_it_shows_of_its_data", Gathered::data, cut),
        says("sends_the_share_of_agent_1",
             Gathered::seeds,
             [](std::string own) {
                 const std::int32_t one = 1;
                 std::memcpy(own.data(), &one, sizeof one);
                 return own;
             }),
        says("sends_no_share", Gathered::seeds, [](const std::string&) { return std::string(); }),
        says("sends_its_share_twice",
             Gathered::seeds,
             [](const std::string& own) { return own + own; }),
        // Where it deals: a parcel begins with the dealer and the member it is for.
        says("changes_a_seed", Gathered::seeds, flipped_at(3)),
        says("cuts_a_seed", Gathered::seeds, cut),
        says("deals_no_seeds", Gathered::seeds, [](const std::string&) { return std::string(); }),
        says("deals_twice", Gathered::seeds, [](const std::string& own) { return own + own; }),
        says("deals_to_a_stranger",
             Gathered::seeds,
             [](std::string own) {
                 const std::int32_t zero = 0;
                 std::memcpy(own.data() + 4, &zero, sizeof zero);
                 return own;
             }),
        says("deals_for_agent_0",
             Gathered::seeds,
             [](std::string own) {
                 const std::int32_t zero = 0;
                 std::memcpy(own.data(), &zero, sizeof zero);
                 return own;
             }),
    };
}

std::vector<Deviation> statements() {
    const auto instead = [](const std::string& text) {
        return [text](const std::string&) { return text; };
    };
    return {
        says("has_a_record_less_than_none", Gathered::records, instead("-5 ")),
        says("has_nan_records", Gathered::records, instead("nan ")),
        says(
            "has_more_records_than_there_are", Gathered::records, instead("99999999999999999999 ")),
        // Numbers of parameters come first.
        says("has_9e18_records",
             Gathered::records,
             [first = true](const std::string& own) mutable {
                 return std::exchange(first, false) ? own : std::string("9000000000000000000 ");
             }),
        says("speaks_for_two", Gathered::records, instead("1 1 ")),
        says("says_other_options",
             Gathered::options,
             [](const std::string& own) { return "rounds = 99\n" + own; }),
        says(
            "says_a_megabyte_of_options", Gathered::options, instead(std::string(1 << 20, '\x1b'))),
        says("holds_another_plan", Gathered::agreement, instead(std::string(32, 'x'))),
        says("is_on_the_disk_of_a_later_rank",
             Gathered::disk,
             instead(std::string("\x7f\0\0\0", 4))),
        says("sends_a_garbled_note", Gathered::note, cut),
        says("sends_a_note_nested_deeply", Gathered::note, instead(std::string(200000, '['))),
        says("sends_a_note_of_a_megabyte",
             Gathered::note,
             [](std::string own) {
                 return own.insert(own.find(':') + 2, std::string(1 << 20, 'x'));
             }),
        says("has_a_model_of_9e18_parameters",
             Gathered::records,
             [first = true](const std::string& own) mutable {
                 return std::exchange(first, false) ? std::string("9000000000000000000 ") : own;
             }),
        says("resumes_alone",
             Gathered::other,
             [first = true](const std::string& own) mutable {
                 return std::exchange(first, false) ? std::string("--resume") : own;
             }),
    };
}

/// An error of its own invention in a step of the bootstrap.
Deviation fails(const std::string& name, int step, const Error& error) {
    return {.name = name, .failure = [step, error](int number) {
                return number == step ? std::optional(error) : std::nullopt;
            }};
}

std::vector<Deviation> failures() {
    Deviation code_0 = fails("fails_with_exit_code_0", 6, NetworkError("all is well"));
    code_0.exit_code = [](int) { return 0; };
    Deviation code_99 = fails("fails_with_exit_code_99", 6, NetworkError("all is well"));
    code_99.exit_code = [](int) { return 99; };
    Deviation giant = fails("fails_with_4_GB_of_words", 6, NetworkError("no end"));
    giant.announced_size = [](std::uint64_t size) {
        return size == 6 ? std::uint64_t{1} << 32 : size;
    };
    return {
        fails("fails_with_garbage",
              6,
              NetworkError("\xff\xfe\x1b[2J rank 0 cheats\nsotto: all is well\xc2\x9b")),
        fails("fails_with_a_megabyte", 6, NetworkError(std::string(1 << 20, 'y'))),
        fails("fails_in_setup", 6, DataError("my data are not for you")),
        code_0,
        code_99,
        giant,
        {.name = "announces_a_giant_string",
         .announced_size = [](std::uint64_t) { return std::uint64_t{1} << 60; }},
        {.name = "stops_in_bootstrap",
         .gathered =
             [](Gathered kind, std::string own) {
                 if (kind == Gathered::announcement) (void)std::raise(SIGSTOP);
                 return own;
             }},
        {.name = "quits_in_bootstrap",
         .gathered =
             [](Gathered kind, std::string own) {
                 if (kind == Gathered::announcement) std::_Exit(0);
                 return own;
             }},
    };
}

/// What rank 0 says before and after a paid round: text of so many numbers.
Deviation says_of_surveys(const std::string& name,
                          std::size_t numbers,
                          const std::function<void(std::vector<std::string>&)>& change,
                          bool two_faced = true) {
    return {.name = name,
            .broadcast =
                [numbers, change](std::string& said) {
                    static const std::regex number("[0-9.e+-]+( [0-9.e+-]+)*");
                    if (!std::regex_match(said, number)) return;
                    std::istringstream stream(said);
                    std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
                    if (words.size() != numbers) return;
                    change(words);
                    said = fmt::format("{}", fmt::join(words, " "));
                },
            .two_faced = two_faced};
}

std::vector<Deviation> surveys() {
    const auto instead = [](std::size_t word, const std::string& text) {
        return [word, text](std::vector<std::string>& words) { words.at(word) = text; };
    };
    const auto times = [](double factor) {
        return [factor](std::vector<std::string>& words) {
            words.at(0) = fmt::format("{}", factor * std::stod(words.at(0)));
        };
    };
    // Choices have five numbers, noise has one, g two, and the moments of two columns four.
    return {
        says_of_surveys("chooses_other_rounds", 5, instead(0, "999")),
        says_of_surveys("chooses_other_noise", 5, instead(2, "1e-9")),
        says_of_surveys("chooses_less_noise", 5, instead(2, "1e-9")),
        says_of_surveys("chooses_nan_records", 5, instead(1, "1e999")),
        says_of_surveys("measures_moments_too", 5, instead(3, "1")),
        says_of_surveys("halves_the_noise_of_a_survey", 1, times(0.5), false),
        says_of_surveys("has_no_noise_in_a_survey", 1, instead(0, "0"), false),
        says_of_surveys("halves_it_for_others_only", 1, times(0.5)),
        says_of_surveys("says_longer_gradients", 2, instead(0, "40")),
        says_of_surveys("says_a_bin_beyond_the_last", 2, instead(0, "48")),
        says_of_surveys("says_a_bin_before_the_first", 2, instead(0, "-1")),
        says_of_surveys("says_a_place_outside_its_bin", 2, instead(1, "1e300")),
        says_of_surveys("says_other_moments", 4, instead(1, "0.9")),
        says_of_surveys("says_moments_of_nan", 4, instead(1, "1e999")),
        says_of_surveys(
            "says_too_few_moments", 4, [](std::vector<std::string>& words) { words.pop_back(); }),
    };
}

}  // namespace

std::vector<Deviation> deviations_in_bootstrap() {
    std::vector<Deviation> all = handshakes();
    for (const auto& more : {seeds(), statements(), failures(), surveys()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace sotto::test
