#include "training/agreed_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "config/agent_path.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

std::string pack_neighbour_lists(const std::vector<NeighbourList>& lists) {
    ByteWriter writer;
    for (const NeighbourList& list : lists) {
        writer.put(static_cast<std::uint64_t>(list.size()));
        for (const int neighbour : list) writer.put(std::int32_t{neighbour});
    }
    return writer.take();
}

std::vector<NeighbourList> unpack_neighbour_lists(std::string_view bytes,
                                                  int process,
                                                  const AgentBlocks& blocks) {
    ByteReader reader(bytes, fmt::format("what rank {} says of its neighbours", process));
    std::vector<NeighbourList> lists;
    for (int a = 0; a < blocks.size(process); ++a) {
        NeighbourList& list = lists.emplace_back(reader.get_count(sizeof(std::int32_t)));
        for (int& neighbour : list) neighbour = reader.get<std::int32_t>();
        const bool ascends = std::ranges::adjacent_find(list, std::greater_equal<>()) == list.end();
        const bool exist = list.empty() || (list.front() >= 0 && list.back() < blocks.agents());
        if (!ascends || !exist || std::ranges::binary_search(list, blocks.first(process) + a))
            reader.fail();
    }
    reader.require_done();
    return lists;
}

Graph agree_on_graph(Network& network, const std::string& path) {
    const int agents = network.agents();
    std::vector<NeighbourList> own;
    network.agree([&] {
        for (const int agent : network.local_agents())
            own.push_back(read_neighbour_list(path_of_agent(path, agent), agent, agents));
    });
    const std::uint64_t of_one =
        sizeof(std::uint64_t) + sizeof(std::int32_t) * static_cast<std::uint64_t>(agents);
    const std::vector<std::string> said =
        network.all_gather(pack_neighbour_lists(own), network.most_agents_of_a_process() * of_one);
    std::optional<Graph> graph;
    network.agree([&] {
        std::vector<NeighbourList> all;
        for (int p = 0; p < network.processes(); ++p)
            std::ranges::move(
                unpack_neighbour_lists(said[static_cast<std::size_t>(p)], p, network.blocks()),
                std::back_inserter(all));
        graph = graph_of_neighbour_lists(all);
    });
    return std::move(*graph);
}

}  // namespace sotto
