// The file of a recorded view.

#include "sotto/agent/recorded_view.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    RecordedView view;
    if (fuzz::accepts([&] { view = read_recorded_view(file.path()); }))
        for (const RecordedRound& round : view.records) {
            fuzz::require(round.received.cols() == view.header.columns());
            fuzz::require(round.message.size() == view.header.dimension);
        }
    return 0;
}
