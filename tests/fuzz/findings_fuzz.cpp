// What the ranks of `sotto doctor` send to rank 0, down to the report. Inputs hold one rank's
// findings, or those of two with a zero byte between.

#include "commands/doctor/doctor.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    (void)fuzz::accepts([&] {
        std::vector<RankFindings> findings;
        const std::size_t middle = text.find('\0');
        findings.push_back(findings_from_json(std::string(text.substr(0, middle))));
        if (middle != std::string_view::npos)
            findings.push_back(findings_from_json(std::string(text.substr(middle + 1))));
        const std::string again = to_json(findings.front());
        fuzz::require(to_json(findings_from_json(again)) == again);
        const auto merged = merge_findings(findings);
        (void)doctor_report_json(findings, merged);
        (void)doctor_report_text(findings, merged);
    });
    return 0;
}
