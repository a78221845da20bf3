#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "commands/report/report_account.hpp"
#include "commands/report/report_job.hpp"

namespace sotto {

/// The computed part (ReportAccount) of a page that is rewritten. It is computed in the background,
/// and again, not too often, when the run's ledger changes.
class LiveAccount {
  public:
    /// The configuration must outlive this object. The destructor waits for a running computation.
    explicit LiveAccount(const ReportConfig& config) : config_(config) {}

    /// Takes a finished account. Begins another one if the last is of another ledger or lacks
    /// something, and ten times as much time has passed as it took.
    /// @param ledger text of ledger.json. @throws as report_account does.
    void follow(const std::string& ledger);
    /// Computes the account once more, for a run that has ended.
    /// @return whether that account is finished.
    [[nodiscard]] bool finish();
    /// Says that the run goes on again; a later finish() computes anew.
    void go_on() { final_ = false; }

    /// The last finished account; null: none yet.
    [[nodiscard]] const ReportAccount* last() const { return last_ ? &*last_ : nullptr; }

  private:
    void begin();
    /// Takes a finished account. @return false while one is being computed.
    bool take();

    const ReportConfig& config_;
    std::future<ReportAccount> next_;
    std::optional<ReportAccount> last_;
    std::string ledger_;  ///< of the account that was begun last
    Clock::time_point taken_;
    bool final_ = false;  ///< finish() began that account
};

/// The page of a run under way. It only reads the run directory, and may write the page there.
class LiveReport {
  public:
    /// Writes a page. @throws Error if it cannot be written.
    using Write = std::function<void(const std::string& page)>;

    /// @param every seconds between two pages, at least 1.
    LiveReport(ReportConfig config, int every, Write write);
    LiveReport(const LiveReport&) = delete;  // the background computation refers to it
    LiveReport& operator=(const LiveReport&) = delete;

    /// Writes the current page. While files are being replaced this may fail silently; the next
    /// call tries again.
    /// @return the last page, once the run has ended and its account is finished.
    /// @throws DataError if no page could be made for half a minute; as `write` does; ConfigError
    /// as make_report does.
    [[nodiscard]] std::optional<Report> update();
    /// Writes a page that no longer reloads, from the last account; errors are ignored.
    void stop();
    /// Seconds until the next update: `every`, or more if a page takes long to make.
    [[nodiscard]] double pause() const;

  private:
    /// Whether the run has ended; false while it may only be changing its members.
    [[nodiscard]] bool has_ended();
    [[nodiscard]] std::optional<Report> write_page();

    ReportConfig config_;
    int every_;
    Write write_;
    LiveAccount account_;
    double cost_ = 0;  ///< of the last page, in CPU seconds
    std::optional<Clock::time_point> stopped_, failing_;
};

/// The state of a run, from its directory.
enum class RunState {
    not_begun,  ///< no message was sent; its directory need not exist
    going_on,   ///< or killed without a trace in its files
    stopped,    ///< interrupted or failed; it may be resumed
    completed   ///< its summary is written; a finished audit is completed, too
};

/// Only reads; a training may be writing. Files that are damaged or being replaced cause no
/// exception: the run then counts as going on.
[[nodiscard]] RunState run_state(const std::filesystem::path& directory);

}  // namespace sotto
