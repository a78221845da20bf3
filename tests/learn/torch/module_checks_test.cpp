#include "learn/torch/module_checks.hpp"

#include "learn/torch/torch_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::load_model;
using test::message_of;

std::string code_refusal(const std::string& name) {
    return message_of<ConfigError>([&] { require_records_apart(load_model(name)); });
}

std::string run_refusal(const std::string& name, Eigen::Index features, Eigen::Index classes) {
    return message_of<ConfigError>([&] {
        TorchModule module = load_model(name);
        require_same_alone_and_together(module, features, classes);
    });
}

void expect_part(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(RequireRecordsApart, TakesModulesThatTreatRecordsByThemselves) {
    for (const char* name :
         {"mlp", "mlp_float64", "cnn", "fixed_batch_norm", "dropout_off", "fixed", "poisson"})
        EXPECT_NO_THROW(require_records_apart(load_model(name))) << name;
}

TEST(RequireRecordsApart, RefusesBatchNormInTrainingModeAndNamesGroupNorm) {
    const std::string message = code_refusal("batch_norm");
    expect_part(message, "BatchNorm in training mode");
    expect_part(message, "take GroupNorm instead");
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(RequireRecordsApart, RefusesRandomNumbers) {
    expect_part(code_refusal("dropout"), "draws random numbers (aten::dropout)");
}

TEST(RequireRecordsApart, RefusesAttributesThatAreWrittenTo) {
    expect_part(code_refusal("remembers"), "changes its attribute 'last'");
    expect_part(code_refusal("collects"), "changes its attribute 'seen'");
}

TEST(RequireSameAloneAndTogether, TakesModulesThatTreatRecordsByThemselves) {
    for (const char* name : {"mlp", "mlp_float64", "fixed_batch_norm", "dropout_off", "fixed"}) {
        TorchModule module = load_model(name);
        EXPECT_NO_THROW(require_same_alone_and_together(module, 6, 3)) << name;
    }
    TorchModule cnn = load_model("cnn"), poisson = load_model("poisson");
    EXPECT_NO_THROW(require_same_alone_and_together(cnn, 36, 3));
    EXPECT_NO_THROW(require_same_alone_and_together(poisson, 6, 0));
}

TEST(RequireSameAloneAndTogether, RefusesAMeanOverTheBatch) {
    EXPECT_NO_THROW(require_records_apart(load_model("centred"))) << "only running it tells";
    expect_part(run_refusal("centred", 6, 3), "where others stand beside it");
}

TEST(RequireSameAloneAndTogether, RefusesBuffersThatAreWrittenTo) {
    expect_part(run_refusal("counts", 6, 3), "changes its parameters or buffers");
}

TEST(RequireSameAloneAndTogether, RefusesOutputsAndLossesThatDoNotFit) {
    expect_part(run_refusal("mlp", 6, 4), "gives 3 outputs a record; the data have 4 classes");
    expect_part(run_refusal("mlp", 6, 0), "to predict one number it must give one");
    expect_part(run_refusal("mean_loss", 6, 0), "gives 1 numbers for 3 records");
    expect_part(run_refusal("mlp", 7, 3), "cannot be trained on these data");
}

}  // namespace
}  // namespace sotto
