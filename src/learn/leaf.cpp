#include "leaf.hpp"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gzip_buffer.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Json = nlohmann::json;

/// A name as a message may show it.
std::string shortened(const std::string& name) {
    constexpr std::size_t longest = 40;
    return name.size() > longest ? name.substr(0, longest) + "..." : name;
}

/// Takes LEAF's records out of a stream of JSON tokens.
class LeafReader final : public nlohmann::json_sax<Json> {
  public:
    explicit LeafReader(const std::string& path) : path_(path) {}

    bool null() override { return other("null"); }
    bool boolean(bool) override { return other("true or false"); }
    bool number_integer(number_integer_t value) override {
        return number(static_cast<double>(value));
    }
    bool number_unsigned(number_unsigned_t value) override {
        return number(static_cast<double>(value));
    }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool binary(binary_t&) override { return other("binary data"); }
    bool string(string_t& text) override {
        if (section_ != "users" || objects_ != 1 || arrays_ != 1) return other("a text");
        if (!users_.emplace(text, static_cast<int>(users_.size())).second)
            fail(fmt::format("user \"{}\" is named twice", shortened(text)));
        return true;
    }

    bool start_object(std::size_t) override {
        if (arrays_ > 0) other("an object");
        ++objects_;
        return true;
    }
    bool key(string_t& name) override {
        if (objects_ == 1) {
            section_ = name;
        } else if (section_ == "user_data" && objects_ == 2) {
            user_ = name;
            if (!samples_of_user_.emplace(name, 0).second)
                fail(fmt::format("user \"{}\" has data twice", shortened(name)));
            users_of_data_.push_back(name);
            features_read_ = labels_read_ = 0;
        } else if (section_ == "user_data" && objects_ == 3) {
            field_ = name;
        }
        return true;
    }
    bool end_object() override {
        --objects_;
        if (section_ == "user_data" && objects_ == 2) finish_user();
        return true;
    }
    bool start_array(std::size_t) override {
        ++arrays_;
        return true;
    }
    bool end_array() override {
        --arrays_;
        if (in_features() && arrays_ == 1) finish_record();
        return true;
    }

    bool parse_error(std::size_t position,
                     const std::string&,
                     const nlohmann::detail::exception&) override {
        throw DataError(fmt::format("{}, byte {}: is not JSON", path_, position));
    }

    [[nodiscard]] Dataset finish() {
        if (labels_.empty())
            throw DataError(
                fmt::format("{}: holds no records (\"user_data\" with \"x\" and \"y\")", path_));
        if (users_.empty()) throw DataError(fmt::format("{}: has no \"users\"", path_));
        for (const auto& [name, number] : users_) {
            const auto found = samples_of_user_.find(name);
            if (found == samples_of_user_.end())
                throw DataError(fmt::format("{}: user \"{}\" has no data", path_, shortened(name)));
            const auto place = static_cast<std::size_t>(number);
            if (!announced_.empty() && (place >= announced_.size() ||
                                        announced_[place] != static_cast<double>(found->second)))
                throw DataError(
                    fmt::format("{}: user \"{}\" has {} records, \"num_samples\" says otherwise",
                                path_,
                                shortened(name),
                                found->second));
        }
        Dataset data;
        data.source = path_;
        const auto records = static_cast<Eigen::Index>(labels_.size());
        data.labels = Eigen::Map<const Eigen::VectorXd>(labels_.data(), records);
        data.dense = RealRows(Eigen::Map<const RealRows>(
            features_.data(), records, static_cast<Eigen::Index>(width_)));
        for (const std::string& name : users_of_data_) {
            const auto user = users_.find(name);
            if (user == users_.end())
                throw DataError(fmt::format(
                    "{}: \"{}\" has data but is not one of the \"users\"", path_, shortened(name)));
            data.writers.insert(data.writers.end(), samples_of_user_[name], user->second);
        }
        return data;
    }

  private:
    [[nodiscard]] bool in_data() const { return section_ == "user_data" && objects_ == 3; }
    [[nodiscard]] bool in_features() const { return in_data() && field_ == "x"; }
    [[nodiscard]] bool in_labels() const { return in_data() && field_ == "y"; }

    bool number(double value) {
        if (in_features()) {
            if (arrays_ < 2) fail("\"x\" must be an array of arrays of numbers");
            if (!std::isfinite(value)) fail("a feature is not finite");
            features_.push_back(value);
        } else if (in_labels()) {
            if (arrays_ != 1 || !(value >= 0 && value <= 1e6 && value == std::floor(value)))
                fail(fmt::format("label {}: must be a whole number from 0 to 1000000", value));
            labels_.push_back(value);
            ++labels_read_;
        } else if (section_ == "num_samples" && objects_ == 1) {
            announced_.push_back(value);
        } else if (section_ == "users" && objects_ == 1) {
            fail("\"users\" must be texts");
        }
        return true;
    }
    /// A token that means nothing where records are; fine where nothing is read.
    bool other(const char* what) {
        if (in_features() || in_labels())
            fail(fmt::format("\"{}\" holds {}; must be numbers", shortened(field_), what));
        return true;
    }

    void finish_record() {
        const std::size_t width = features_.size() - record_start_;
        record_start_ = features_.size();
        if (width == 0) fail("a record has no features");
        if (width_ == 0) width_ = width;
        if (width != width_)
            fail(fmt::format("a record of {} features; the first has {}", width, width_));
        ++features_read_;
    }
    void finish_user() {
        if (features_read_ != labels_read_)
            fail(fmt::format(
                "{} records in \"x\", {} labels in \"y\"", features_read_, labels_read_));
        samples_of_user_[user_] = features_read_;
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(user_.empty() ? fmt::format("{}: {}", path_, what)
                                      : fmt::format("{}, user \"{}\", record {}: {}",
                                                    path_,
                                                    shortened(user_),
                                                    features_read_ + 1,
                                                    what));
    }

    std::string path_;
    int objects_ = 0, arrays_ = 0;        // how many are open
    std::string section_, user_, field_;  // keys of the open objects
    std::map<std::string, int> users_;    // number of each
    std::vector<std::string> users_of_data_;
    std::map<std::string, std::size_t> samples_of_user_;
    std::vector<double> announced_, features_, labels_;
    std::size_t width_ = 0, record_start_ = 0, features_read_ = 0, labels_read_ = 0;
};

}  // namespace

Dataset read_leaf(const std::string& path) {
    GzipBuffer bytes(path);
    std::istream stream(&bytes);
    LeafReader reader(path);
    (void)Json::sax_parse(stream, &reader);
    return reader.finish();
}

}  // namespace sotto
