#pragma once

// A TorchScript module as a function of a vector of parameters; part of sotto_torch.so only.

#include <torch/script.h>

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// One line of what libtorch or TorchScript says in many.
[[nodiscard]] std::string torch_reason(const std::exception& error);

/// f(), with what libtorch throws as a ConfigError: "task: PATH DOES_NOT (reason)".
void with_torch_errors(const std::string& path,
                       const std::string& does_not,
                       const std::function<void()>& f);

/// A TorchScript module: its parameters that require a gradient, in the order of named_parameters,
/// are the model vector; all else in it stays as it is in the file. Numbers are of the parameters'
/// type (float32 or float64); the model vector is float64. Runs on one thread, without the
/// optimisations of TorchScript's executor, which would make bits depend on how often it ran. Not
/// thread-safe; copies are independent.
class TorchModule {
  public:
    /// @param path for messages.  @param bytes of a file of torch.jit.save.
    /// @throws ConfigError with path and reason if they are no module, it has no forward, no
    /// parameters, parameters of different types or of one memory, or such that are not finite.
    TorchModule(const std::string& path, const std::string& bytes);
    /// A module of its own memory.
    [[nodiscard]] TorchModule copy() const;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const torch::jit::Module& module() const { return module_; }
    [[nodiscard]] bool has_loss() const { return module_.find_method("loss").has_value(); }
    [[nodiscard]] Eigen::Index parameters() const { return parameter_count_; }
    /// The parameters of the file. Size parameters().
    [[nodiscard]] Eigen::VectorXd initial() const;

    /// Sets the parameters. @param model size parameters(); rounded to the module's type.
    void set(const Eigen::Ref<const Eigen::VectorXd>& model);
    /// Features of these records, of the module's type: n x features, or n x input_shape where the
    /// module has an attribute of this name.
    [[nodiscard]] at::Tensor inputs(const Dataset& data, std::span<const Eigen::Index> rows) const;
    /// Made-up features, uniform in [0, 1), the same on every machine.
    [[nodiscard]] at::Tensor made_up_inputs(Eigen::Index records, Eigen::Index features) const;
    /// The shape that `features` features of n records get. @throws ConfigError if input_shape does
    /// not hold as many.
    [[nodiscard]] std::vector<std::int64_t> input_shape(std::int64_t records,
                                                        Eigen::Index features) const;
    /// forward(inputs). @throws what libtorch throws.
    [[nodiscard]] at::Tensor outputs(const at::Tensor& inputs);
    /// One loss a record: the module's loss(outputs, targets) where it has this method, otherwise
    /// the cross-entropy of classes, or (output - value)^2. @param targets n classes (int64), or n
    /// values of the module's type.  @throws what libtorch throws.
    [[nodiscard]] at::Tensor losses(const at::Tensor& outputs, const at::Tensor& targets);
    /// Gradient of the sum of these losses by the parameters. @param gradient overwritten.
    /// @throws what libtorch throws; ConfigError if the module changed parameters or buffers since
    /// set(): what a record leaves behind would be seen by others.
    void gradient(const at::Tensor& losses, Eigen::Ref<Eigen::VectorXd> gradient);
    [[nodiscard]] at::ScalarType type() const { return type_; }

  private:
    TorchModule() = default;
    void find_parameters();
    [[nodiscard]] std::uint64_t changes() const;

    std::string path_;
    torch::jit::Module module_;
    std::vector<at::Tensor> parameters_, kept_;
    Eigen::Index parameter_count_ = 0;
    at::ScalarType type_ = at::kFloat;
    std::optional<std::vector<std::int64_t>> shape_;
    std::uint64_t changes_ = 0;
};

}  // namespace sotto
