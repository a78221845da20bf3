#include "options/option_set.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_bindings.hpp"

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

}  // namespace
}  // namespace sotto
