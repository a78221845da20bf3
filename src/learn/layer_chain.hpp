#pragma once

// Layers one after the other, on several records at once; not installed.

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <vector>

#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// A model of layers. It keeps what came into every layer and how the loss depends on that, of the
/// records that went through last: a record in every column. All memory is taken when it is made;
/// columns begin at the same alignment.
class LayerChain {
  public:
    using Columns = Eigen::Ref<Eigen::MatrixXd>;
    using ConstColumns = Eigen::Ref<const Eigen::MatrixXd>;

    /// @throws ConfigError unless there is a layer, and each takes what the one before gives.
    LayerChain(Layers layers, Eigen::Index features);

    [[nodiscard]] const Layers& layers() const { return layers_; }
    [[nodiscard]] Eigen::Index parameters() const { return first_parameter_.back(); }
    [[nodiscard]] Eigen::Index outputs() const { return layers_.back()->outputs(); }
    /// Records that go through together at most: as many as keep values and slopes of all layers in
    /// a few mebibytes. More would leave the caches, fewer make products narrow.
    [[nodiscard]] std::size_t chunk_records() const { return chunk_records_; }

    /// Where the features of the next `records` records, at most chunk_records(), are put.
    [[nodiscard]] Columns features(Eigen::Index records);
    /// What comes out of the last layer, of those records.
    [[nodiscard]] ConstColumns forward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// Where the derivatives of the losses by the outputs are put; the outputs stand there.
    [[nodiscard]] Columns output_slopes();
    /// From these to the derivatives by what comes into every layer.
    void backward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// gradient += sum over the records of their gradients by the parameters.
    void add_gradients(Eigen::Ref<Eigen::VectorXd> gradient);
    /// The norm of every record's gradient, or more than it, rounding included.
    [[nodiscard]] Eigen::Ref<const Eigen::VectorXd> gradient_norms();
    /// Multiplies a record's part in add_gradients.
    void scale_record(Eigen::Index record, double factor);
    /// Takes a record out of add_gradients, whatever its values are.
    void drop_record(Eigen::Index record);

    /// All that is computed for a record with these features and slopes by the outputs, if it has
    /// the same bits in each of `records` places: values, slopes, and the norm.
    [[nodiscard]] std::optional<Eigen::VectorXd> same_in_every_place(
        Eigen::Index records,
        const Eigen::Ref<const Eigen::VectorXd>& model,
        const Eigen::Ref<const Eigen::VectorXd>& features_of_record,
        const Eigen::Ref<const Eigen::VectorXd>& slopes_of_record);

    /// e of layered_objective.hpp: the relative error of a sum of n records' gradients.
    [[nodiscard]] double sum_error(double records) const;

  private:
    [[nodiscard]] auto parameters_of(std::size_t layer,
                                     const Eigen::Ref<const Eigen::VectorXd>& model) const {
        return model.segment(first_parameter_[layer], layers_[layer]->parameters());
    }
    [[nodiscard]] Columns columns_of(Eigen::MatrixXd& all, std::size_t size) const {
        return all.topLeftCorner(sizes_[size], columns_);
    }
    [[nodiscard]] Columns values(std::size_t l) { return columns_of(values_[l], l); }
    [[nodiscard]] Columns slopes(std::size_t l) { return columns_of(slopes_[l], l); }

    Layers layers_;
    std::vector<Eigen::Index> first_parameter_;  // of every layer; then their number
    std::size_t chunk_records_ = 1;
    std::vector<Eigen::Index> sizes_;  // [l] of what comes into layer l; the last comes out
    Eigen::Index columns_ = 0;         // records that are there now
    std::vector<Eigen::MatrixXd> values_, slopes_;  // room for chunk_records_, and for alignment
    Eigen::VectorXd norms_;
};

}  // namespace sotto
