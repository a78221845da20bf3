#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "learn/layers.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// A model of layers on one agent's records. The loss is the cross-entropy
/// -log(softmax(out)[class]) of the last layer's outputs, one per class, or (out - value)^2 of its
/// only output for values to predict.
///
/// Records are clipped by ghost norms: a forward and a backward pass give the norms of all records'
/// gradients; the sum of clipped gradients is then one product per layer, with rows scaled by the
/// clip factors. The sum is rounded toward zero to the grid (objective.hpp), and records are
/// clipped to C' a little below C:
///
///     C' = (C - grid_step sqrt(d)) / (1 + 2 n e),
///
/// for n records in the largest possible batch. Rounding adds at most n e C' to the sum of n
/// records, for any data: e = ((m t + 16) a + n / m + 1) u, with m records summed together before
/// such sums are (the widest of place_independent_tiles, or n if less), t terms per record and
/// amplification a (SumRounding), u = 2^-53. Rounding toward zero changes the difference of two
/// sums by at most grid_step sqrt(d). A record's values have the same bits in any batch and place
/// (place_independent_tiles). So one record changes the result by at most C' + 2 n e C' + grid_step
/// sqrt(d) = C if it is zeroed or leaves the batch, and by less than 2C if it is replaced. A record
/// whose gradient is not finite, or whose square overflows, adds zero.
/// @throws DataError if the shard is empty, feature counts differ, a feature is not finite, or a
/// label is no class; ConfigError if layers do not fit each other or the features.
[[nodiscard]] std::unique_ptr<Objective> make_layered_objective(
    Layers layers, Dataset shard, std::shared_ptr<const Dataset> test);

/// A model of layers with the values and slopes of the last records, one per column. All memory is
/// allocated on construction; columns are equally aligned.
class LayerChain {
  public:
    using Columns = Eigen::Ref<Eigen::MatrixXd>;
    using ConstColumns = Eigen::Ref<const Eigen::MatrixXd>;

    /// @throws ConfigError without layers, or if sizes do not fit.
    LayerChain(Layers layers, Eigen::Index features);

    [[nodiscard]] const Layers& layers() const { return layers_; }
    [[nodiscard]] Eigen::Index parameters() const { return first_parameter_.back(); }
    [[nodiscard]] Eigen::Index outputs() const { return layers_.back()->outputs(); }
    /// Most records at once: values and slopes of all layers then fit in a few mebibytes of cache.
    [[nodiscard]] std::size_t chunk_records() const { return chunk_records_; }

    /// Where to put the features of the next `records` records, at most chunk_records().
    [[nodiscard]] Columns features(Eigen::Index records);
    /// Outputs of the last layer for those records.
    [[nodiscard]] ConstColumns forward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// Derivatives of the losses by the outputs go here; the outputs are here before.
    [[nodiscard]] Columns output_slopes();
    /// Derivatives by the inputs of every layer, from the output slopes.
    void backward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// gradient += sum of the records' gradients by the parameters.
    void add_gradients(Eigen::Ref<Eigen::VectorXd> gradient);
    /// An upper bound of every record's gradient norm, rounding included.
    [[nodiscard]] Eigen::Ref<const Eigen::VectorXd> gradient_norms();
    void scale_record(Eigen::Index record, double factor);
    /// Excludes a record from add_gradients, whatever its values.
    void drop_record(Eigen::Index record);

    /// Values, slopes and norm of a record with these features and output slopes, if they have the
    /// same bits in each of `records` places.
    [[nodiscard]] std::optional<Eigen::VectorXd> same_in_every_place(
        Eigen::Index records,
        const Eigen::Ref<const Eigen::VectorXd>& model,
        const Eigen::Ref<const Eigen::VectorXd>& features_of_record,
        const Eigen::Ref<const Eigen::VectorXd>& slopes_of_record);

    /// e of make_layered_objective: the relative error of a sum of n records' gradients.
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
    std::vector<Eigen::Index> first_parameter_;  // per layer; then the total
    std::size_t chunk_records_ = 1;
    std::vector<Eigen::Index> sizes_;               // [l]: inputs of layer l; last: outputs
    Eigen::Index columns_ = 0;                      // current records
    std::vector<Eigen::MatrixXd> values_, slopes_;  // room for chunk_records_ and alignment
    Eigen::VectorXd norms_;
};

/// Class number of a label: a whole number from 0 to classes-1; label -1 is class 0.
/// @throws DataError naming the data set and the label.
[[nodiscard]] Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data);

/// For a label -log(softmax(out)[class]), without overflow; for a value (out - value)^2.
[[nodiscard]] double output_loss(const Eigen::Ref<const Eigen::VectorXd>& out,
                                 const Dataset& data,
                                 Eigen::Index row);

/// Replaces the outputs by the derivatives of the loss.
void turn_into_slopes(Eigen::Ref<Eigen::VectorXd> out, const Dataset& data, Eigen::Index row);

/// Whether the largest output is that of the record's class.
[[nodiscard]] bool is_hit(const Eigen::Ref<const Eigen::VectorXd>& out,
                          const Dataset& data,
                          Eigen::Index row);

}  // namespace sotto
