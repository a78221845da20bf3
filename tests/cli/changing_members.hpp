#pragma once

#include "program.hpp"

namespace sotto::test {

/// A training of four agents whose members change while it goes on; the parameter is the number of
/// ranks.
class ChangingMembers : public ::testing::TestWithParam<int> {
  protected:
    using Json = nlohmann::json;

    [[nodiscard]] Arguments training(const Arguments& more) const {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--agents",
                            "4",
                            "--topology",
                            "complete",
                            "--mechanism",
                            "decor",
                            "--rounds",
                            "400000",
                            "--batch-size",
                            "5",
                            "--eval-every",
                            "100",
                            "--checkpoint-every",
                            "100",
                            "--quiet",
                            "--run-directory",
                            "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    [[nodiscard]] Process start(const Arguments& arguments) const {
        return {sotto_command(GetParam(), arguments), directory_.path()};
    }
    [[nodiscard]] bool has_begun() const {
        return lines_of(content_of(directory_ / "run/metrics.csv")).size() > 3;
    }
    [[nodiscard]] std::size_t phases() const {
        const std::string text = content_of(directory_ / "run/history.json");
        const Json history = Json::parse(text, nullptr, false);
        return history.is_discarded() ? 0 : history.at("phases").size();
    }
    /// Whether rounds of the phase that has begun are under way.
    [[nodiscard]] bool goes_on() const {
        const auto evaluations = [&] {
            return lines_of(content_of(directory_ / "run/metrics.csv")).size();
        };
        const std::size_t before = evaluations();
        return happens([&] { return evaluations() > before; });
    }
    [[nodiscard]] Json ledger() const { return json_of(directory_ / "run/ledger.json"); }
    [[nodiscard]] Json gone(std::size_t phase) const {
        return ledger().at("phases")[phase].at("agents_gone");
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(60));
};

}  // namespace sotto::test
