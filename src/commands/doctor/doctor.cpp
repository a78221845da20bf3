#include "commands/doctor/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/doctor/machine_checks.hpp"
#include "core/numbers.hpp"
#include "sotto/core/build_info.hpp"

namespace sotto {

namespace {

Finding make(const CheckRecord& check, const Placement& placement) {
    try {
        return check.make(placement);
    } catch (const std::exception& error) {
        return {false, error.what(), "install the library this needs again"};
    }
}

}  // namespace

const Registry<CheckRecord>& machine_checks() {
    static const Registry<CheckRecord> table("check",
                                             {{"program", check_program, true},
                                              {"mpi-library", check_mpi_library, true},
                                              {"root", check_root},
                                              {"cores", check_cores},
                                              {"yielding", check_yielding},
                                              {"eigen", check_eigen},
                                              {"eigenvalues", check_eigenvalues},
                                              {"blas-kernels", check_blas_kernels},
                                              {"blas-threads", check_blas_threads},
                                              {"libsodium", check_libsodium},
                                              {"simd", check_simd},
                                              {"noise-bits", check_noise_bits, true},
                                              {"locked-memory", check_locked_memory},
                                              {"shared-memory", check_shared_memory},
                                              {"leftover-segments", check_leftover_segments},
                                              {"temporary-directory", check_temporary_directory},
                                              {"run-directory", check_run_directory}});
    return table;
}

std::vector<DoctorCheck> check_machine(const Placement& placement) {
    std::vector<DoctorCheck> checks;
    for (const CheckRecord& check : machine_checks().records()) {
        const Finding finding = make(check, placement);
        checks.push_back({check.name, finding.ok, finding.found, finding.fix, check.must_agree});
    }
    return checks;
}

namespace {

using Json = nlohmann::ordered_json;

/// Hosts with their ranks, in the order of their first rank.
std::vector<std::pair<Placement, std::vector<int>>> hosts_of(
    std::span<const RankFindings> findings) {
    std::vector<std::pair<Placement, std::vector<int>>> hosts;
    for (const auto& one : findings) {
        auto host = std::find_if(hosts.begin(), hosts.end(), [&](const auto& known) {
            return known.first.host == one.placement.host;
        });
        if (host == hosts.end()) host = hosts.insert(hosts.end(), {one.placement, {}});
        host->second.push_back(one.placement.rank);
    }
    return hosts;
}

}  // namespace

std::string doctor_report_json(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    Json json;
    json["ok"] = std::all_of(merged.begin(), merged.end(), [](const auto& c) { return c.ok; });
    json["version"] = build_version();
    json["launched"] = findings.front().placement.launched;
    json["ranks"] = findings.size();
    json["hosts"] = Json::array();
    for (const auto& [placement, ranks] : hosts_of(findings))
        json["hosts"].push_back(
            {{"host", placement.host}, {"cores", placement.cores_on_host}, {"ranks", ranks}});
    json["checks"] = Json::array();
    for (const auto& check : merged)
        json["checks"].push_back(
            {{"name", check.name}, {"ok", check.ok}, {"found", check.found}, {"fix", check.fix}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string doctor_report_text(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    const auto hosts = hosts_of(findings);
    std::string text;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto& [placement, ranks] = hosts[i];
        const std::string who =
            placement.launched
                ? fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_text(ranks))
                : "this process, started without mpirun";
        text += fmt::format("{:<6}{}: {}\n", i == 0 ? "hosts" : "", placement.host, who);
    }
    std::size_t width = 0, failed = 0;
    for (const auto& check : merged) width = std::max(width, check.name.size());
    for (const auto& check : merged) {
        if (!check.ok) ++failed;
        text += fmt::format(
            "{:<6}{:<{}}  {}\n", check.ok ? "ok" : "FAIL", check.name, width, check.found);
        if (!check.fix.empty())
            text += fmt::format(
                "{:<6}{:<{}}  {}: {}\n", "", "", width, check.ok ? "advice" : "fix", check.fix);
    }
    return text + (failed == 0 ? fmt::format("all {} checks ok\n", merged.size())
                               : fmt::format("{} of {} checks failed\n", failed, merged.size()));
}

}  // namespace sotto
