#include "sotto/agent/checkpoint_copy.hpp"

#include <algorithm>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/trust/sealed_message.hpp"

namespace sotto {

std::string seal_copy(const Identity& identity, int agent, const CheckpointCopy& copy) {
    ByteWriter writer;
    writer.put(std::int32_t{agent});
    writer.put(std::int32_t{copy.phase});
    writer.put(std::int64_t{copy.until});
    writer.put_text(copy.revealed);
    writer.put_text(copy.checkpoint);
    const std::string content = writer.take();
    return seal(identity.storage_key(),
                SealPurpose::checkpoint_copy,
                agent,
                agent,
                {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

CheckpointCopy open_copy(const Identity& identity, int agent, std::string_view sealed) {
    const SecretBytes content =
        open_sealed(identity.storage_key(), SealPurpose::checkpoint_copy, agent, agent, sealed);
    const auto bytes = content.span();
    ByteReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                      "the copy of agent " + std::to_string(agent) + "'s checkpoint");
    if (reader.get<std::int32_t>() != agent)
        throw CryptoError("agent " + std::to_string(agent) +
                          ": the copy is of another agent's checkpoint");
    CheckpointCopy copy;
    copy.phase = reader.get<std::int32_t>();
    copy.until = reader.get<std::int64_t>();
    copy.revealed = reader.get_text();
    copy.checkpoint = reader.get_text();
    reader.require_done();
    return copy;
}

}  // namespace sotto
