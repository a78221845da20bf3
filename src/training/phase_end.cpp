#include "training/phase_end.hpp"

#include <algorithm>
#include <cstdint>

#include "sotto/core/bytes.hpp"

namespace sotto {

PhaseEnd share_end(Network& everybody,
                   const std::optional<PhaseEnd>& own,
                   const std::vector<int>& waiting) {
    ByteWriter writer;
    if (own) {
        writer.put(std::int32_t{own->exit_code});
        writer.put_text(own->run_directory);
        put_numbers(writer, own->change.leaving);
        put_numbers(writer, own->change.joining);
    }
    const auto agents = static_cast<std::uint64_t>(everybody.agents());
    const std::string said =
        everybody.broadcast(writer.take(), most_line_bytes + sizeof(std::int32_t) * agents);
    PhaseEnd end;
    everybody.agree([&] {
        if (own) {
            end = *own;
            return;
        }
        ByteReader reader(said, "what rank 0 says of the phase that ended");
        end.exit_code = reader.get<std::int32_t>();
        end.run_directory = reader.get_text();
        end.change.leaving = get_numbers(reader);
        end.change.joining = get_numbers(reader);
        reader.require_done();
        if (!std::ranges::includes(waiting, end.change.joining)) reader.fail();
    });
    return end;
}

}  // namespace sotto
