#include "learn/torch/torch_objective.hpp"

#include <limits>

#include "learn/output_loss.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t batch_records = 250;

class TorchObjective final : public RecordObjective {
  public:
    TorchObjective(TorchModule module,
                   Dataset shard,
                   std::shared_ptr<const Dataset> test,
                   Eigen::Index classes)
        : RecordObjective(std::move(shard), std::move(test)),
          module_(std::move(module)),
          classes_(classes) {
        (void)module_.input_shape(1, RecordObjective::shard().feature_count());
        require_usable(RecordObjective::shard());
        require_usable(RecordObjective::test());
    }

    Eigen::Index dimension() const override { return module_.parameters(); }
    /// The parameters of the file, whatever the seed.
    Eigen::VectorXd initial_model(std::uint64_t) const override { return module_.initial(); }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        prepare(model);
        part_.resize(dimension());
        gradient.setZero();
        for_each_batch(rows, [&](std::span<const Eigen::Index> part) {
            differentiate(shard(), part, part_);
            gradient += part_;
        });
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    bool shares_test(const Objective& other) const override {
        const auto* same = dynamic_cast<const TorchObjective*>(&other);
        return same != nullptr && &same->test() == &test() &&
               same->module_.path() == module_.path();
    }

  protected:
    void prepare(const Eigen::Ref<const Eigen::VectorXd>& model) override { module_.set(model); }

    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                     const Dataset& data,
                     Eigen::Index row) override {
        const LossSum sum = losses_of(data, {&row, 1});
        return {.loss = sum.loss, .correct = sum.correct > 0};
    }

    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                         const Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        differentiate(data, {&row, 1}, gradient);
    }

    bool has_accuracy() const override { return classes_ > 0; }

    LossSum loss_over(const Dataset& data,
                      const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        prepare(model);
        std::vector<Eigen::Index> rows;
        for (Eigen::Index row = first; row < data.records(); row += stride) rows.push_back(row);
        LossSum sum;
        sum.has_accuracy = has_accuracy();
        for_each_batch(rows,
                       [&](std::span<const Eigen::Index> part) { sum += losses_of(data, part); });
        return sum;
    }

  private:
    void require_usable(const Dataset& data) const {
        if (classes_ > 0)
            for (const double label : data.labels) (void)class_of(label, classes_, data);
    }

    template <class Function>
    static void for_each_batch(std::span<const Eigen::Index> rows, Function&& f) {
        for (std::size_t first = 0; first < rows.size(); first += batch_records)
            f(rows.subspan(first, std::min(batch_records, rows.size() - first)));
    }

    /// Classes of these records, or their values.
    [[nodiscard]] at::Tensor targets(const Dataset& data,
                                     std::span<const Eigen::Index> rows) const {
        auto numbers = at::empty({std::ssize(rows)}, at::kDouble);
        double* place = numbers.data_ptr<double>();
        for (const Eigen::Index row : rows)
            *place++ = classes_ > 0
                           ? static_cast<double>(class_of(data.labels[row], classes_, data))
                           : data.labels[row];
        return numbers.to(classes_ > 0 ? at::kLong : module_.type());
    }

    /// Of the sum of these records' losses; not a number where the module fails.
    void differentiate(const Dataset& data,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) {
        try {
            const at::Tensor outputs = module_.outputs(module_.inputs(data, rows));
            module_.gradient(module_.losses(outputs, targets(data, rows)), gradient);
        } catch (const Error&) {
            throw;
        } catch (const std::exception&) {
            gradient.setConstant(std::numeric_limits<double>::quiet_NaN());
        }
    }

    [[nodiscard]] LossSum losses_of(const Dataset& data, std::span<const Eigen::Index> rows) {
        const torch::NoGradGuard no_grad;
        LossSum sum;
        sum.records = std::ssize(rows);
        sum.has_accuracy = has_accuracy();
        try {
            const at::Tensor wanted = targets(data, rows);
            const at::Tensor outputs = module_.outputs(module_.inputs(data, rows));
            // A loss of the module's own may need other outputs than one a class.
            sum.has_accuracy =
                sum.has_accuracy && outputs.dim() == 2 && outputs.size(1) >= classes_;
            sum.loss = module_.losses(outputs, wanted).to(at::kDouble).sum().item<double>();
            if (sum.has_accuracy) sum.correct = outputs.argmax(1).eq(wanted).sum().item<double>();
        } catch (const Error&) {
            throw;
        } catch (const std::exception&) {
            sum.loss = std::numeric_limits<double>::quiet_NaN();
        }
        return sum;
    }

    TorchModule module_;
    Eigen::Index classes_;
    Eigen::VectorXd part_;
};

}  // namespace

std::unique_ptr<Objective> make_torch_objective(TorchModule module,
                                                Dataset shard,
                                                std::shared_ptr<const Dataset> test,
                                                Eigen::Index classes) {
    return std::make_unique<TorchObjective>(
        std::move(module), std::move(shard), std::move(test), classes);
}

}  // namespace sotto
