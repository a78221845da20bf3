// The text of a roster.

#include "support.hpp"
#include "trust/identity.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)fuzz::accepts([&] {
        const Roster roster = Roster::parse(fuzz::text_of(data, size), "roster");
        for (const Roster::Entry& entry : roster.entries())
            fuzz::require(roster.find(entry.key) != nullptr);
        (void)roster.digest();
    });
    return 0;
}
