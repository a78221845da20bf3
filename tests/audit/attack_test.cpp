#include "audit/attack.hpp"

#include <gtest/gtest.h>

#include <set>

#include "commands/cli/command.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(Attacks, AreFoundByNameAndAnotherIsRefusedWithTheNames) {
    for (const char* name : {"likelihood", "canary-records", "reconstruction", "membership", "survey"})
        EXPECT_EQ(attacks().find("--attack", name).name, name);
    try {
        (void)attacks().find("--attack", "membrship");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("'membership'"), std::string::npos)
            << error.what();
    }
}

TEST(Attacks, NameOptionsThatTheCommandHas) {
    std::set<std::string> known;
    for (const WrittenGroup& group : cli::commands().find("command", "audit").options())
        for (const WrittenOption& option : group.options) known.insert(option.name);
    for (const AttackRecord& attack : attacks().records()) {
        EXPECT_NE(attack.start, nullptr) << attack.name;
        EXPECT_FALSE(attack.help.empty()) << attack.name;
        for (const std::string& option : attack.options)
            EXPECT_TRUE(known.contains(option)) << attack.name << " " << option;
        for (const auto& [option, value] : attack.defaults)
            EXPECT_TRUE(known.contains(option)) << attack.name << " " << option;
    }
}

}  // namespace
}  // namespace sotto
