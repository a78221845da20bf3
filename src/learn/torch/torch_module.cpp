#include "learn/torch/torch_module.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <mutex>
#include <numeric>
#include <set>
#include <sstream>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void use_one_thread() {
    static std::once_flag once;
    std::call_once(once, [] {
        at::set_num_threads(1);
        try {
            at::set_num_interop_threads(1);
        } catch (const std::exception&) {
            // Somebody else in this process has started them; nothing here uses them.
        }
    });
}

/// int[] or a tuple of int. @throws ConfigError.
std::vector<std::int64_t> shape_of(const c10::IValue& value, const std::string& path) {
    std::vector<std::int64_t> shape;
    if (value.isIntList())
        shape = value.toIntVector();
    else if (value.isTuple() && std::ranges::all_of(value.toTupleRef().elements(),
                                                    [](auto& one) { return one.isInt(); }))
        for (const auto& one : value.toTupleRef().elements()) shape.push_back(one.toInt());
    else
        throw ConfigError(fmt::format(
            "task: input_shape of {} is no list of whole numbers ([1, 28, 28], for example)",
            path));
    for (const std::int64_t size : shape)
        if (size < 1)
            throw ConfigError(
                fmt::format("task: input_shape of {} holds {} (allowed: 1 and more)", path, size));
    return shape;
}

}  // namespace

std::string torch_reason(const std::exception& error) {
    const auto* own = dynamic_cast<const c10::Error*>(&error);
    std::istringstream text(own != nullptr ? own->what_without_backtrace() : error.what());
    std::string line, first, last;
    while (std::getline(text, line)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        if (first.empty()) first = line;
        last = line;
    }
    // TorchScript begins with where the module failed and ends with why.
    std::string reason = first.starts_with("The following operation failed") ? last : first;
    const std::string prefix = "RuntimeError: ";
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    return reason.empty() ? "no reason given" : reason;
}

void with_torch_errors(const std::string& path,
                       const std::string& does_not,
                       const std::function<void()>& f) {
    try {
        f();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw ConfigError(fmt::format("task: {} {} ({})", path, does_not, torch_reason(error)));
    }
}

TorchModule::TorchModule(const std::string& path, const std::string& bytes) : path_(path) {
    use_one_thread();
    with_torch_errors(path, "is no TorchScript module (torch.jit.script(model).save(FILE))", [&] {
        std::istringstream stream(bytes);
        module_ = torch::jit::load(stream, at::Device(at::kCPU));
        if (!module_.find_method("forward"))
            throw ConfigError(fmt::format("task: {} has no method forward", path));
        if (module_.hasattr("input_shape")) shape_ = shape_of(module_.attr("input_shape"), path);
        find_parameters();
    });
    if (!initial().allFinite())
        throw ConfigError(fmt::format("task: a parameter of {} is not finite", path));
}

TorchModule TorchModule::copy() const {
    TorchModule copy;
    copy.path_ = path_;
    copy.shape_ = shape_;
    copy.module_ = module_.deepcopy();
    copy.find_parameters();
    return copy;
}

void TorchModule::find_parameters() {
    std::set<const void*> memory;
    for (const auto& parameter : module_.named_parameters()) {
        if (!parameter.value.requires_grad()) {
            kept_.push_back(parameter.value);
            continue;
        }
        if (parameters_.empty()) type_ = parameter.value.scalar_type();
        if (parameter.value.scalar_type() != type_ || (type_ != at::kFloat && type_ != at::kDouble))
            throw ConfigError(
                fmt::format("task: parameter {} of {} has the type {} (allowed: float32, or "
                            "float64, all the same)",
                            parameter.name,
                            path_,
                            c10::toString(parameter.value.scalar_type())));
        if (parameter.value.numel() > 0 && !memory.insert(parameter.value.storage().data()).second)
            throw ConfigError(fmt::format(
                "task: parameter {} of {} is the memory of another one, too (tied parameters "
                "are not supported: keep one and use it twice)",
                parameter.name,
                path_));
        parameters_.push_back(parameter.value);
        parameter_count_ += parameter.value.numel();
    }
    for (const auto& buffer : module_.named_buffers()) kept_.push_back(buffer.value);
    if (parameter_count_ == 0)
        throw ConfigError(fmt::format("task: {} has no parameters to train", path_));
    changes_ = changes();
}

/// Grows whenever a parameter or buffer is written to.
std::uint64_t TorchModule::changes() const {
    std::uint64_t sum = 0;
    for (const auto& tensor : parameters_) sum += tensor._version();
    for (const auto& tensor : kept_) sum += tensor._version();
    return sum;
}

Eigen::VectorXd TorchModule::initial() const {
    const torch::NoGradGuard no_grad;
    Eigen::VectorXd model(parameter_count_);
    double* place = model.data();
    for (const auto& parameter : parameters_) {
        at::from_blob(place, parameter.sizes(), at::kDouble).copy_(parameter);
        place += parameter.numel();
    }
    return model;
}

void TorchModule::set(const Eigen::Ref<const Eigen::VectorXd>& model) {
    const torch::NoGradGuard no_grad;
    // libtorch knows no memory that is only read.
    auto* place = const_cast<double*>(model.data());
    for (auto& parameter : parameters_) {
        parameter.copy_(at::from_blob(place, parameter.sizes(), at::kDouble));
        place += parameter.numel();
    }
    changes_ = changes();
}

std::vector<std::int64_t> TorchModule::input_shape(std::int64_t records,
                                                   Eigen::Index features) const {
    std::vector<std::int64_t> shape{records};
    if (!shape_) {
        shape.push_back(features);
        return shape;
    }
    const std::int64_t size =
        std::accumulate(shape_->begin(), shape_->end(), std::int64_t{1}, std::multiplies<>());
    if (size != features)
        throw ConfigError(
            fmt::format("task: input_shape of {} holds {} numbers; the data have {} features",
                        path_,
                        size,
                        features));
    shape.insert(shape.end(), shape_->begin(), shape_->end());
    return shape;
}

at::Tensor TorchModule::inputs(const Dataset& data, std::span<const Eigen::Index> rows) const {
    Eigen::MatrixXd features(data.feature_count(), std::ssize(rows));
    copy_features(data, rows, features);
    // Columns of the one are rows of the other. A copy: its memory is aligned as libtorch's own.
    return at::from_blob(
               features.data(), input_shape(std::ssize(rows), features.rows()), at::kDouble)
        .to(type_, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor TorchModule::made_up_inputs(Eigen::Index records, Eigen::Index features) const {
    constexpr std::uint64_t any_seed = 20;
    return at::rand({records, features},
                    at::detail::createCPUGenerator(any_seed),
                    at::TensorOptions(type_))
        .view(input_shape(records, features));
}

at::Tensor TorchModule::outputs(const at::Tensor& inputs) {
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    return module_.forward({inputs}).toTensor();
}

at::Tensor TorchModule::losses(const at::Tensor& outputs, const at::Tensor& targets) {
    if (has_loss()) {
        const torch::jit::GraphOptimizerEnabledGuard plain(false);
        return module_.run_method("loss", outputs, targets).toTensor();
    }
    if (targets.scalar_type() == at::kLong)
        return at::cross_entropy_loss(outputs, targets, {}, at::Reduction::None);
    return (outputs.reshape({targets.size(0)}) - targets).square();
}

void TorchModule::gradient(const at::Tensor& losses, Eigen::Ref<Eigen::VectorXd> gradient) {
    const auto gradients = torch::autograd::grad({losses.sum()},
                                                 parameters_,
                                                 /*grad_outputs=*/{},
                                                 /*retain_graph=*/c10::nullopt,
                                                 /*create_graph=*/false,
                                                 /*allow_unused=*/true);
    const torch::NoGradGuard no_grad;
    double* place = gradient.data();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        auto part = at::from_blob(place, parameters_[i].sizes(), at::kDouble);
        if (gradients[i].defined())
            part.copy_(gradients[i]);
        else
            part.zero_();
        place += parameters_[i].numel();
    }
    if (changes() != changes_)
        throw ConfigError(
            fmt::format("task: {} changes its parameters or buffers while it computes; what one "
                        "record leaves there others would see (a running mean, for example)",
                        path_));
}

}  // namespace sotto
