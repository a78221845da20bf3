#include "account/account_conversion.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

TEST(Conversion, OfMuAndOfItsEpsilonAreTheSame) {
    const Conversion of_mu = convert_mu(1.5, 1e-6);
    const Conversion back = convert_epsilon(of_mu.epsilon, 1e-6);
    EXPECT_NEAR(back.mu, 1.5, 1e-9);
    EXPECT_EQ(of_mu.epsilon, gdp_epsilon(1.5, 1e-6));
    EXPECT_GT(of_mu.rdp_epsilon, of_mu.epsilon);
}

TEST(Conversion, IsSaidInJsonAndInWords) {
    const Conversion conversion = convert_mu(2, 1e-5);
    const auto json = test::Json::parse(conversion_json(conversion));
    EXPECT_EQ(json.at("mu"), 2);
    EXPECT_EQ(json.at("renyi_alpha2"), 4);
    EXPECT_EQ(json.at("delta"), 1e-5);
    EXPECT_EQ(json.at("epsilon").get<double>(), conversion.epsilon);
    EXPECT_EQ(json.at("rdp_epsilon").get<double>(), conversion.rdp_epsilon);
    test::expect_contains(conversion_text(conversion), "mu 2 is epsilon ");
    test::expect_contains(conversion_text(conversion), "order 2: 4\n");
}

}  // namespace
}  // namespace sotto
