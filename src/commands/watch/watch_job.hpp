#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "commands/report/report_job.hpp"

namespace sotto {

/// The accountant's part of a page that is written again and again. It is computed beside the
/// pages, and again only where the run's ledger is another, as seldom as keeps it cheap.
class LiveAccount {
  public:
    /// The configuration must outlive this object. Its destructor waits for what is being computed.
    explicit LiveAccount(const ReportConfig& config) : config_(config) {}

    /// Takes what has been computed, and begins another account where the one that is there is of
    /// another ledger, or lacks something, and ten times as long ago as it took.
    /// @param ledger text of ledger.json. @throws as report_account does.
    void follow(const std::string& ledger);
    /// The same, but once: of the files of a run that has ended, which stay as they are.
    /// @return whether it is there.
    [[nodiscard]] bool finish();
    /// The run goes on again: finish() begins anew.
    void go_on() { final_ = false; }

    /// The last that was computed; null: none yet.
    [[nodiscard]] const ReportAccount* last() const { return last_ ? &*last_ : nullptr; }

  private:
    void begin();
    /// Whether nothing is being computed any more.
    bool take();

    const ReportConfig& config_;
    std::future<ReportAccount> next_;
    std::optional<ReportAccount> last_;
    std::string ledger_;  ///< the last account, or the next one, is of
    Clock::time_point taken_;
    bool final_ = false;  ///< the last account, or the next one, was begun by finish()
};

/// The page of a run that goes on. It reads the run's directory and leaves everything in it as it
/// is, but for the page where that stands there.
class LiveReport {
  public:
    /// Writes a page. @throws Error where it cannot be written.
    using Write = std::function<void(const std::string& page)>;

    /// @param every seconds between two pages, from 1 on.
    LiveReport(ReportConfig config, int every, Write write);
    LiveReport(const LiveReport&) = delete;  // what is computed beside the pages refers to it
    LiveReport& operator=(const LiveReport&) = delete;

    /// Writes the page of now. Where files are being replaced it may be that none can be made, and
    /// the next call makes it.
    /// @return the last page, once the run has ended and what the accountant says of it is known.
    /// @throws DataError where for half a minute no page could be made; as `write` does;
    /// ConfigError as make_report does.
    [[nodiscard]] std::optional<Report> update();
    /// Writes the page of a run that nobody watches any more, where that can be done at once.
    void stop();
    /// Seconds until the next update: `every`, more where a page takes long to make.
    [[nodiscard]] double pause() const;

  private:
    /// Whether the run has ended, and does not just change its members.
    [[nodiscard]] bool has_ended();
    [[nodiscard]] std::optional<Report> write_page();

    ReportConfig config_;
    int every_;
    Write write_;
    LiveAccount account_;
    double cost_ = 0;  ///< of the last page, in seconds of a processor
    std::optional<Clock::time_point> stopped_, failing_;
};

/// How far a run is, as its directory says.
enum class RunState {
    not_begun,  ///< nothing has left yet; its directory need not be there
    going_on,   ///< or killed without a word
    stopped,    ///< interrupted or failed; it may be resumed
    completed   ///< its summary is written; audits, too
};

/// Only reads, while a training may be writing. @throws nothing for files that are replaced or
/// damaged: then the run goes on.
[[nodiscard]] RunState run_state(const std::filesystem::path& directory);

}  // namespace sotto
