#include "learn/torch/module_checks.hpp"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using torch::jit::Block;
using torch::jit::Node;

constexpr const char* batch_norm_remedy =
    "take GroupNorm instead, or call model.eval() before torch.jit.script: then its statistics are "
    "those of the file";
constexpr const char* random_remedy =
    "a run must have the same bits when it is taken up again, and noise regularises already: leave "
    "it out, or call model.eval() before torch.jit.script";

bool is_batch_norm(const Node& node) {
    const std::string name = node.kind().toUnqualString();
    return name == "batch_norm" || name == "native_batch_norm" || name == "_batch_norm_impl_index";
}

/// Whether the statistics are, or may be, those of the batch.
bool uses_batch_statistics(const Node& node) {
    const auto training = node.namedInput("training");
    const auto value = torch::jit::toIValue(training);
    return !value || !value->isBool() || value->toBool();
}

[[noreturn]] void refuse(const std::string& path, const std::string& does, const char* remedy) {
    throw ConfigError(fmt::format("task: {} {} ({})", path, does, remedy));
}

void require_node_apart(const Node& node, const std::string& path) {
    if (is_batch_norm(node) && uses_batch_statistics(node))
        refuse(path,
               "normalises over the batch (BatchNorm in training mode), so that one record changes "
               "others' gradients",
               batch_norm_remedy);
    if (node.isNondeterministic())
        refuse(path,
               fmt::format("draws random numbers ({})", node.kind().toQualString()),
               random_remedy);
    const bool writes = node.kind() == torch::jit::prim::SetAttr;
    // Freezing has turned all lists that nobody writes to into constants.
    const bool reads_changing = node.kind() == torch::jit::prim::GetAttr &&
                                (node.output()->type()->kind() == c10::TypeKind::ListType ||
                                 node.output()->type()->kind() == c10::TypeKind::DictType);
    if (writes || reads_changing)
        refuse(path,
               fmt::format("changes its attribute '{}', so that a record may leave something for "
                           "the next",
                           node.s(torch::jit::attr::name)),
               "keep nothing in the module between records");
}

void require_block_apart(const Block& block, const std::string& path) {
    for (const Node* node : block.nodes()) {
        require_node_apart(*node, path);
        for (const Block* inner : node->blocks()) require_block_apart(*inner, path);
    }
}

/// Losses and their gradient of some of the made-up records.
struct Computed {
    at::Tensor losses;
    Eigen::VectorXd gradient;
};

Computed computed(TorchModule& module, const at::Tensor& inputs, const at::Tensor& targets) {
    Computed result;
    const at::Tensor losses = module.losses(module.outputs(inputs.clone()), targets);
    result.gradient.resize(module.parameters());
    module.gradient(losses, result.gradient);
    result.losses = losses.detach().to(at::kDouble).reshape({-1});
    return result;
}

/// Equal up to what the order of sums changes in float32; not finite in the same places.
bool nearly_equal(const at::Tensor& one, const at::Tensor& other) {
    return at::allclose(one, other, 1e-3, 1e-5, /*equal_nan=*/true);
}

at::Tensor tensor_of(const Eigen::VectorXd& vector) {
    return at::from_blob(const_cast<double*>(vector.data()), {vector.size()}, at::kDouble).clone();
}

void require_fitting_outputs(TorchModule& module,
                             const at::Tensor& inputs,
                             const at::Tensor& targets,
                             Eigen::Index classes) {
    const torch::NoGradGuard no_grad;
    const std::string& path = module.path();
    const at::Tensor out = module.outputs(inputs.clone());
    const std::int64_t records = inputs.size(0);
    if (out.dim() < 1 || out.size(0) != records)
        throw ConfigError(
            fmt::format("task: {} gives outputs of another number than {} for {} records",
                        path,
                        records,
                        records));
    const std::int64_t outputs = out.numel() / records;
    if (!module.has_loss() && classes > 0 && (out.dim() != 2 || outputs < classes))
        throw ConfigError(fmt::format(
            "task: {} gives {} outputs a record; the data have {} classes (one output a class)",
            path,
            outputs,
            classes));
    if (!module.has_loss() && classes == 0 && outputs != 1)
        throw ConfigError(fmt::format(
            "task: {} gives {} outputs a record; to predict one number it must give one",
            path,
            outputs));
    const at::Tensor losses = module.losses(out, targets);
    if (losses.numel() != records || losses.dim() > 1)
        throw ConfigError(fmt::format(
            "task: loss of {} gives {} numbers for {} records; it must give one a record "
            "(reduction='none')",
            path,
            losses.numel(),
            records));
}

}  // namespace

void require_records_apart(const TorchModule& module) {
    with_torch_errors(module.path(), "cannot be analysed", [&] {
        std::vector<std::string> methods{"forward"};
        if (module.has_loss()) methods.emplace_back("loss");
        const auto frozen = torch::jit::freeze_module(
            module.module(), methods, /*freezeInterfaces=*/true, /*preserveParameters=*/true);
        for (const std::string& method : methods) {
            const auto graph = frozen.get_method(method).graph()->copy();
            torch::jit::Inline(*graph);
            require_block_apart(*graph->block(), module.path());
        }
    });
}

void require_same_alone_and_together(TorchModule& module,
                                     Eigen::Index features,
                                     Eigen::Index classes) {
    constexpr std::int64_t records = 3;
    const std::string& path = module.path();
    with_torch_errors(path, "cannot be trained on these data", [&] {
        const at::Tensor inputs = module.made_up_inputs(records, features);
        const at::Tensor targets = classes > 0
                                       ? at::arange(records, at::kLong).remainder(classes)
                                       : at::arange(records, at::TensorOptions(module.type()));
        require_fitting_outputs(module, inputs, targets, classes);
        const Computed together = computed(module, inputs, targets);
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(module.parameters());
        bool same_losses = true, same_bits = true;
        for (std::int64_t i = 0; i < records; ++i) {
            const auto alone = [&] {
                return computed(module, inputs.slice(0, i, i + 1), targets.slice(0, i, i + 1));
            };
            const Computed once = alone(), again = alone();
            same_bits = same_bits && tensor_of(once.gradient).equal(tensor_of(again.gradient));
            same_losses =
                same_losses && nearly_equal(once.losses, together.losses.slice(0, i, i + 1));
            sum += once.gradient;
        }
        const double scale = std::max(1e-30, sum.cwiseAbs().maxCoeff());
        if (!same_losses ||
            !nearly_equal(tensor_of(sum / scale), tensor_of(together.gradient / scale)))
            refuse(path,
                   "computes something else for a record where others stand beside it",
                   "a mean over the batch, for example: every record must be computed by itself");
        if (!same_bits && sum.allFinite())
            refuse(
                path, "computes something else for the same record a second time", random_remedy);
    });
}

}  // namespace sotto
