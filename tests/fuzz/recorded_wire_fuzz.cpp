// The file of what an agent put on the wire.

#include "agent/recording/recorded_wire.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    (void)fuzz::accepts([&] {
        WireReader reader(file.path());
        const WireHeader& header = reader.header();
        const auto values = header.dimension * static_cast<Eigen::Index>(header.outputs.size());
        std::uint64_t records = 0;
        for (WireRecord record; reader.next(record); ++records) {
            const bool shares = header.content == WireContent::shares;
            fuzz::require(record.messages.size() == (shares ? 0 : values));
            fuzz::require(record.shares.size() == (shares ? values : 0));
            fuzz::require(record.messages.allFinite());
        }
        fuzz::require(records == reader.records());
    });
    return 0;
}
