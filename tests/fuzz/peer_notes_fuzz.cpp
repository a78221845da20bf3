// What ranks send to rank 0 for the manifest, and to all of their numbers of records.

#include "config/peer_notes.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    ProcessNote note;
    if (fuzz::accepts([&] { note = process_note_from_json(text, 3); })) {
        const std::string again = to_json(note);
        fuzz::require(to_json(process_note_from_json(again, 3)) == again);
    }
    std::vector<Eigen::Index> records;
    if (fuzz::accepts([&] { records = records_from_text(text, 3); }))
        fuzz::require(records_from_text(records_to_text(records), 3) == records);
    return 0;
}
