#include "learn/torch/torch_plugin.hpp"

#include "learn/torch/module_checks.hpp"
#include "learn/torch/torch_module.hpp"
#include "learn/torch/torch_objective.hpp"

namespace sotto {

namespace {

class TorchSource final : public ModelSource {
  public:
    TorchSource(const std::string& path, const std::string& bytes) : module_(path, bytes) {
        require_records_apart(module_);
    }

    std::unique_ptr<Objective> make(Eigen::Index classes,
                                    Dataset shard,
                                    std::shared_ptr<const Dataset> test) const override {
        TorchModule own = module_.copy();
        require_same_alone_and_together(own, shard.feature_count(), classes);
        return make_torch_objective(std::move(own), std::move(shard), std::move(test), classes);
    }

  private:
    TorchModule module_;
};

}  // namespace

}  // namespace sotto

extern "C" {

const int sotto_torch_plugin_version = sotto::torch_plugin_version;

sotto::ModelSource* sotto_torch_model(const std::string& path, const std::string& bytes) {
    return std::make_unique<sotto::TorchSource>(path, bytes).release();
}
}
