#include "options/option_bindings.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sotto {
namespace {

struct Part {
    double size = 2;
    std::optional<int> count;
    std::uint64_t seed = 1;
    std::string name;
};
struct Whole {
    Part part;
    std::optional<long> limit = 5;
};

/// Reads a text into a configuration and writes it again.
template <class Config>
std::optional<std::string> round(const Binding<Config>& binding, Config& config, const char* text) {
    binding.read(config, "--x", text);
    return binding.write(config);
}

TEST(BoundOption, ReadsIntoItsMemberAndWritesFromIt) {
    const Binding<Part> size = bound(&Part::size, positive_real());
    Part part;
    EXPECT_EQ(size.write(part), "2");
    EXPECT_EQ(round(size, part, "1e-3"), "1e-3");
    EXPECT_EQ(part.size, 1e-3);
    const Binding<Part> seed = bound(&Part::seed, whole(0));
    EXPECT_EQ(round(seed, part, "9223372036854775807"), "9223372036854775807");
    EXPECT_EQ(part.seed, 9223372036854775807U);
}

TEST(BoundOption, IsNotGivenWhereAnOptionalMemberIsEmpty) {
    const Binding<Part> count = bound(&Part::count, whole(0, 10));
    Part part;
    EXPECT_EQ(count.write(part), std::nullopt);
    EXPECT_EQ(round(count, part, "7"), "7");
    EXPECT_EQ(part.count, 7);
}

TEST(BoundOption, IsNotGivenWhereAStringIsEmpty) {
    const Binding<Part> name = bound(&Part::name, any_text());
    Part part;
    EXPECT_EQ(name.write(part), std::nullopt);
    EXPECT_EQ(round(name, part, "here"), "here");
}

TEST(BoundOption, MayHaveAFormatOfOptionalValues) {
    const OptionFormat<std::optional<long>> number_or_none{
        "",
        [](const std::string&, const std::string& text) {
            return text == "none" ? std::optional<long>() : std::optional<long>(3);
        },
        [](const std::optional<long>& value) {
            return value ? std::to_string(*value) : std::string("none");
        }};
    const Binding<Whole> limit = bound(&Whole::limit, number_or_none);
    Whole config;
    EXPECT_EQ(limit.write(config), "5");
    EXPECT_EQ(round(limit, config, "none"), "none");
    EXPECT_EQ(config.limit, std::nullopt);
}

TEST(BoundOption, OfAPartIsOneOfTheWhole) {
    const Option<Part> option{{.name = "size", .help = "how large", .beside_run = true},
                              bound(&Part::size, positive_real())};
    const auto lifted_option = lifted<Whole>(option, &Whole::part);
    Whole config;
    EXPECT_EQ(round(lifted_option.value, config, "9"), "9");
    EXPECT_EQ(config.part.size, 9);
    EXPECT_EQ(lifted_option.name, "size");
    EXPECT_TRUE(lifted_option.beside_run);
    const Binding<Whole> by_function = bound(
        [](auto& c) -> auto& { return c.part.size; }, positive_real());
    EXPECT_EQ(by_function.write(config), "9");
}

TEST(OptionBoundToNothing, LeavesTheConfigurationAlone) {
    Part part;
    EXPECT_EQ(round(bound_to_nothing<Part>(OptionKind::flag), part, "true"), std::nullopt);
    EXPECT_EQ(part.size, 2);
}

}  // namespace
}  // namespace sotto
