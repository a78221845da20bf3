#include "net/mpi/first_contact.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(FirstContact, MakesACommunicatorOfAllProcesses) {
    MPI_Comm made = first_contact();
    int relation = MPI_UNEQUAL;
    ASSERT_EQ(MPI_Comm_compare(MPI_COMM_WORLD, made, &relation), MPI_SUCCESS);
    EXPECT_EQ(relation, MPI_CONGRUENT);
    EXPECT_EQ(MPI_Barrier(made), MPI_SUCCESS);
    MPI_Comm_free(&made);
}

TEST(ContactFailure, NamesWhoIsSilentAndWhatIsInTheWay) {
    const auto at = [](const std::string& host, const std::string& addresses) {
        return ContactNote{host, addresses_from(addresses)};
    };
    const ContactNote first = at("node1", "docker0 172.17.0.1/16, eth0 10.0.0.1/24");
    const std::string docker =
        contact_failure({first, first, at("node2", "docker0 172.17.0.1/16, eth0 10.0.0.2/24")}, 9);
    EXPECT_NE(docker.find("within 9 s; several hosts have the same address: docker0 172.17.0.1 "
                          "(node1, node2); name"),
              std::string::npos)
        << docker;
    EXPECT_NE(docker.find("btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 "),
              std::string::npos)
        << docker;
    const std::string silent = contact_failure({first, {}, {}}, 9);
    EXPECT_NE(silent.find("no answer from ranks 1, 2;"), std::string::npos) << silent;
    EXPECT_NE(silent.find("btl_tcp_if_include NETWORK/BITS"), std::string::npos) << silent;
    const std::string apart = contact_failure({first, at("node2", "eth0 10.1.0.2/24")}, 9);
    EXPECT_NE(apart.find("no network in which every host"), std::string::npos) << apart;
}

}  // namespace
}  // namespace sotto
