#include "learn/torch/torch_module.hpp"

#include "learn/torch/torch_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::load_model;
using test::message_of;
using test::model_path;
using test::three_classes;

std::string refusal(const std::string& name) {
    return message_of<ConfigError>([&] { (void)load_model(name); });
}

TEST(TorchModule, HasTheParametersOfTheFileInTheirOrder) {
    const TorchModule module = load_model("mlp");
    EXPECT_EQ(module.parameters(), 5 * 7 + 3 * 6);
    const Eigen::VectorXd initial = module.initial();
    Eigen::Index first = 0;
    for (const auto& parameter : module.module().named_parameters()) {
        const at::Tensor flat = parameter.value.detach().flatten();
        for (std::int64_t i = 0; i < flat.numel(); ++i)
            EXPECT_EQ(initial[first++], static_cast<double>(flat[i].item<float>()))
                << parameter.name;
    }
    EXPECT_EQ(first, module.parameters());
}

TEST(TorchModule, TrainsOnlyParametersThatRequireAGradient) {
    EXPECT_EQ(load_model("fixed").parameters(), 3 * 4);
}

TEST(TorchModule, SetsParametersOfItsOwnCopyOnly) {
    TorchModule module = load_model("mlp"), copy = module.copy();
    const Eigen::VectorXd before = module.initial();
    copy.set(Eigen::VectorXd::Constant(copy.parameters(), 0.25));
    EXPECT_EQ(copy.initial(), Eigen::VectorXd::Constant(copy.parameters(), 0.25));
    EXPECT_EQ(module.initial(), before);
}

TEST(TorchModule, GivesRecordsTheShapeThatTheModuleAsksFor) {
    const Dataset data = three_classes(4, 36);
    const at::Tensor images = load_model("cnn").inputs(data, all_rows(4));
    EXPECT_EQ(images.sizes(), (std::vector<std::int64_t>{4, 1, 6, 6}));
    EXPECT_EQ(images.scalar_type(), at::kFloat);
    EXPECT_EQ(images[2][0][1][3].item<float>(),
              static_cast<float>(std::get<RealRows>(*data.dense)(2, 9)));
    EXPECT_NE(message_of<ConfigError>([] {
                  (void)load_model("cnn").input_shape(1, 35);
              }).find("holds 36 numbers; the data have 35 features"),
              std::string::npos);
}

TEST(TorchModule, ComputesInTheTypeOfItsParameters) {
    const Dataset data = three_classes(2, 6);
    EXPECT_EQ(load_model("mlp_float64").inputs(data, all_rows(2)).scalar_type(), at::kDouble);
}

TEST(TorchModule, HasOneLossARecordAndItsOwnWhereTheFileHasOne) {
    TorchModule module = load_model("mlp");
    const at::Tensor inputs = module.made_up_inputs(5, 6);
    const at::Tensor out = module.outputs(inputs);
    const at::Tensor classes = at::arange(5, at::kLong).remainder(3);
    const at::Tensor losses = module.losses(out, classes);
    ASSERT_EQ(losses.sizes(), (std::vector<std::int64_t>{5}));
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(losses[i].item<double>(),
                    (out[i].logsumexp(0) - out[i][classes[i]]).item<double>(),
                    1e-6);
    TorchModule own = load_model("poisson");
    EXPECT_TRUE(own.has_loss());
    const at::Tensor score = own.outputs(inputs);
    const at::Tensor counts = at::full({5}, 2.0f);
    EXPECT_NEAR(own.losses(score, counts)[3].item<double>(),
                std::exp(score[3].item<double>()) - 2 * score[3].item<double>(),
                1e-5);
}

TEST(TorchModule, SaysWhyAFileCannotBeTrained) {
    EXPECT_NE(message_of<ConfigError>([] {
                  TorchModule("text.pt", "not a module");
              }).find("task: text.pt is no TorchScript module"),
              std::string::npos);
    EXPECT_NE(refusal("no_parameters").find("has no parameters to train"), std::string::npos);
    EXPECT_NE(refusal("tied").find("is the memory of another one, too"), std::string::npos);
}

TEST(TorchModule, EndsARunWhoseModuleChangesItsBuffers) {
    TorchModule module = load_model("counts");
    Eigen::VectorXd gradient(module.parameters());
    const std::string message = message_of<ConfigError>([&] {
        const at::Tensor out = module.outputs(module.made_up_inputs(1, 6));
        module.gradient(module.losses(out, at::zeros({1}, at::kLong)), gradient);
    });
    EXPECT_NE(message.find("changes its parameters or buffers"), std::string::npos) << message;
}

}  // namespace
}  // namespace sotto
