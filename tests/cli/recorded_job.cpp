#include "recorded_job.hpp"

#include <utility>

#include "core/files.hpp"
#include "program.hpp"

namespace sotto::test {

std::string bytes_of(const void* data, std::size_t size) {
    return {static_cast<const char*>(data), size};
}

namespace {

std::string bytes_of(const Eigen::VectorXd& vector) {
    return test::bytes_of(vector.data(), static_cast<std::size_t>(vector.size()) * sizeof(double));
}

}  // namespace

RecordedJob::RecordedJob(std::filesystem::path run_directory, int agents)
    : run_(std::move(run_directory)) {
    for (int agent = 0; agent < agents; ++agent)
        views_.push_back(read_recorded_view(run_ / "views" / std::to_string(agent) / "view.bin"));
}

Needles RecordedJob::messages() const {
    Needles needles(message_window);
    for (const RecordedView& view : views_)
        for (std::size_t r = 0; r < view.records.size(); r += sampled)
            needles.add_windows_of(bytes_of(Eigen::VectorXd(view.records[r].message.col(0))));
    return needles;
}

Needles RecordedJob::models() const {
    Needles needles(message_window);
    for (std::size_t agent = 0; agent < views_.size(); ++agent)
        needles.add_windows_of(bytes_of(Eigen::VectorXd(
            read_npy(run_ / "agents" / std::to_string(agent) / "model.npy").col(0))));
    return needles;
}

Needles RecordedJob::seeds() const {
    Needles needles(seed_window);
    for (std::size_t agent = 0; agent < views_.size(); ++agent) {
        const auto file = json_of(run_ / "views" / std::to_string(agent) / "seeds.json");
        for (const auto& entry : file.at("seeds")) {
            const auto digits = entry.at("seed").get<std::string>();
            std::string raw;
            for (std::size_t i = 0; i < digits.size(); i += 2)
                raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
            needles.add_windows_of(raw);
            needles.add_windows_of(digits);
        }
    }
    return needles;
}

double RecordedJob::bytes_sent() const {
    return json_of(run_ / "summary.json").at("bytes_sent").get<double>();
}

}  // namespace sotto::test
