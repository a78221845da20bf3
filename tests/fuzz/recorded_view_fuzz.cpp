// The file of a recorded view.

#include "agent/recording/recorded_view.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    (void)fuzz::accepts([&] {
        RecordedViewReader reader(file.path());
        const ViewHeader& header = reader.header();
        const auto outputs = static_cast<Eigen::Index>(header.outputs.size());
        std::uint64_t records = 0;
        for (RecordedRound record; reader.next(record); ++records) {
            fuzz::require(record.gossip_step == static_cast<int>(records) % header.gossip_steps);
            fuzz::require(record.received.cols() == header.columns());
            fuzz::require(record.message.rows() == header.dimension);
            fuzz::require(record.message.cols() == outputs && record.noise.cols() == outputs);
            fuzz::require(record.received.allFinite() && record.message.allFinite());
        }
        fuzz::require(records == reader.records());
    });
    return 0;
}
