#include "options/option_set.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

struct Engine {
    double power = 75;
    bool turbo = false;
};
struct Car {
    Engine engine;
    std::string colour = "red";
    std::optional<double> weight;
};

OptionGroup<Engine> engine_options() {
    return option_group<Engine>(
        "Engine",
        {{{{.name = "power", .ranks_must_agree = true}, bound(&Engine::power, positive_real())},
          {{.name = "turbo"}, bound(&Engine::turbo, flag())}}});
}

OptionGroup<Car> car_options() {
    return option_group<Car>("Car",
                             {{{{.name = "colour"}, bound(&Car::colour, any_text())}},
                              {{{.name = "weight"}, bound(&Car::weight, positive_real())}}});
}

OptionSet<Car> car_set() {
    return OptionSet<Car>().add(engine_options(), &Car::engine).add(car_options());
}

TEST(OptionSetOfAWhole, ReadsWhatIsGivenAndLeavesTheRestAtItsDefaults) {
    const Car car = car_set().read({{"power", "90.5"}, {"weight", "1e3"}});
    EXPECT_EQ(car.engine.power, 90.5);
    EXPECT_EQ(car.weight, 1000);
    EXPECT_EQ(car.colour, "red");
    EXPECT_FALSE(car.engine.turbo);
}

TEST(OptionSetOfAWhole, NamesTheOptionThatIsWrong) {
    expect_contains(message_of<ConfigError>([] {
                        (void)car_set().read({{"power", "0"}});
                    }),
                    "--power: 0");
}

TEST(OptionSetOfAWhole, WritesTheDefaultsOfTheMembers) {
    const auto groups = car_set().written();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].title, "Engine");
    EXPECT_EQ(groups[0].options[0].text, "75");
    EXPECT_EQ(groups[0].options[1].text, "false");
    EXPECT_EQ(groups[0].options[1].kind, OptionKind::flag);
    EXPECT_EQ(groups[1].options[0].text, "red");
    EXPECT_EQ(groups[1].options[1].text, std::nullopt);
}

TEST(OptionSetOfAWhole, ReadsBackWhatItWrites) {
    Car car;
    car.engine.power = 0.1 + 0.2;
    car.engine.turbo = true;
    car.colour = "dark green";
    car.weight = 1.0 / 3;
    OptionTexts texts;
    for (const WrittenGroup& group : car_set().written(car))
        for (const WrittenOption& option : group.options) texts[option.name] = *option.text;
    const Car again = car_set().read(texts);
    EXPECT_EQ(again.engine.power, car.engine.power);
    EXPECT_EQ(again.engine.turbo, car.engine.turbo);
    EXPECT_EQ(again.colour, car.colour);
    EXPECT_EQ(again.weight, car.weight);
}

TEST(OptionSetOfAWhole, IsAPartOfALargerOne) {
    struct Garage {
        Car first;
    };
    OptionSet<Garage> set;
    set.add(car_set(), &Garage::first);
    EXPECT_EQ(set.read({{"power", "3"}}).first.engine.power, 3);
    EXPECT_EQ(set.groups().size(), 2U);
}

TEST(OptionGroupThatIsOpen, TakesOneMoreOption) {
    OptionGroup<Engine> group = engine_options();
    const Registered<Option<Engine>> more(
        group.options, {{.name = "horse-power"}, bound(&Engine::power, positive_real())});
    OptionSet<Car> set;
    set.add(group, &Car::engine);
    EXPECT_EQ(set.read({{"horse-power", "7"}}).engine.power, 7);
    EXPECT_THROW(Registered<Option<Engine>>(group.options,
                                            {{.name = "turbo"}, bound(&Engine::turbo, flag())}),
                 Error);
}

TEST(OptionSetOfAWhole, FindsAnOptionByName) {
    const OptionSet<Car> set = car_set();
    ASSERT_NE(set.look_up("weight"), nullptr);
    EXPECT_EQ(set.look_up("weight")->name, "weight");
    EXPECT_EQ(set.look_up("wheels"), nullptr);
}

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
