#include "learn/torch/torch_plugin.hpp"

#include "learn/torch/torch_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::message_of;
using test::model_path;
using test::three_classes;

TEST(TorchPlugin, MakesAnObjectiveAnAgentOfOneFile) {
    const std::unique_ptr<ModelSource> source(
        sotto_torch_model("mlp.pt", read_file(model_path("mlp"))));
    const auto first = source->make(3, three_classes(5, 6), nullptr);
    const auto second = source->make(3, three_classes(9, 6), nullptr);
    EXPECT_EQ(first->records(), 5);
    EXPECT_EQ(second->records(), 9);
    EXPECT_EQ(first->initial_model(1), second->initial_model(2));
    EXPECT_EQ(sotto_torch_plugin_version, torch_plugin_version);
}

TEST(TorchPlugin, RefusesWhatItsChecksRefuse) {
    for (const char* name : {"batch_norm", "dropout", "remembers"})
        EXPECT_THROW((void)sotto_torch_model(name, read_file(model_path(name))), ConfigError)
            << name;
    const std::unique_ptr<ModelSource> centred(
        sotto_torch_model("centred.pt", read_file(model_path("centred"))));
    EXPECT_THROW((void)centred->make(3, three_classes(5, 6), nullptr), ConfigError);
    EXPECT_THROW((void)centred->make(3, three_classes(0, 6), nullptr), Error);
}

}  // namespace
}  // namespace sotto
