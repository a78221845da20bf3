// Sealed messages, with seeds and without, and shares against their commitments.

#include <algorithm>

#include "support.hpp"
#include "trust/handshake.hpp"
#include "trust/seed_agreement.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    fuzz::Changes changes(data, size);
    const std::uint8_t kind = changes.byte();
    const SecretKey pair_secret = SecretKey::random();
    std::map<int, SecretKey> drawn;
    for (const int group : {2, 5}) drawn.emplace(group, SecretKey::random());
    const std::vector<int> groups{2, 5};
    if (kind % 3 == 0) {
        const std::string sealed = seal_seeds(pair_secret, 0, 1, groups, drawn);
        const std::string arrived = changes.apply(sealed);
        std::vector<SecretKey> seeds;
        if (fuzz::accepts([&] { seeds = open_seeds(pair_secret, 0, 1, groups, arrived); }))
            fuzz::require(arrived == sealed && seeds[0] == drawn.at(2) && seeds[1] == drawn.at(5));
    } else if (kind % 3 == 1) {
        // Somebody who has the pair secret, a member, seals whatever it likes.
        const std::string content = changes.apply(std::string(72, '\0'));
        const std::string sealed =
            seal(pair_secret,
                 SealPurpose::seeds,
                 0,
                 1,
                 {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
        (void)fuzz::accepts([&] { (void)open_seeds(pair_secret, 0, 1, groups, sealed); });
    } else {
        std::string shares(96, '\7');
        std::vector<Digest> commitments;
        for (int u = 0; u < 3; ++u)
            commitments.push_back(
                commitment_to_share(u, std::vector<std::uint8_t>(SecretKey::size, 7)));
        const std::string arrived = changes.apply(shares);
        if (fuzz::accepts([&] {
                check_shares(
                    {reinterpret_cast<const std::uint8_t*>(arrived.data()), arrived.size()},
                    commitments);
            }))
            fuzz::require(arrived == shares);
    }
    return 0;
}
