// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/client/sim_folder.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

tl::expected<ExporterArguments, ExporterExit> parsed(const std::vector<std::string>& arguments) {
  return parse_exporter_arguments(arguments);
}

TEST(ExporterArgumentsTest, ListensToThisHostOnlyByDefault) {
  const auto read = parsed({});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->socket_path, "/run/vmnuma/vmnuma.sock");
  EXPECT_EQ(read->listen.host, "127.0.0.1");
  EXPECT_EQ(read->listen.port, 9721);
}

TEST(ExporterArgumentsTest, TakesTheSocketAndTheAddress) {
  const auto read = parsed({"--socket", "/s", "--listen", "[::1]:0"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->socket_path, "/s");
  EXPECT_EQ(read->listen.host, "::1");
  EXPECT_EQ(read->listen.port, 0);
}

TEST(ExporterArgumentsTest, ShowsTheSimulatedDaemonOnAPortOfItsOwn) {
  const auto read = parsed({"--sim"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->socket_path, sim_socket(sim_folder()));
  EXPECT_EQ(read->listen.host, "127.0.0.1");
  EXPECT_EQ(read->listen.port, 0);
  EXPECT_EQ(parsed({"--sim", "--listen", "[::1]:9000"})->listen.port, 9000);
  EXPECT_FALSE(parsed({"--sim", "--socket", "/s"}));
}

TEST(ExporterArgumentsTest, TakesAUnixSocket) {
  EXPECT_EQ(parsed({"--listen", "unix:/run/web.sock"})->listen.path, "/run/web.sock");
  EXPECT_EQ(parsed({})->listen.path, "");
}

TEST(ExporterArgumentsTest, TakesTheFileOfTlsAndUsersUnderItsNameInOtherExporters) {
  EXPECT_EQ(parsed({"--web.config.file", "/etc/web.yml"})->web_config_file, "/etc/web.yml");
  EXPECT_EQ(parsed({"--web.config.file=web.yml"})->web_config_file, "web.yml");
  EXPECT_EQ(parsed({})->web_config_file, "");
}

TEST(ExporterArgumentsTest, RefusesWhatIsNoAddress) {
  for (const char* address :
       {"", "unix:", "9721", "localhost:9721", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1:97x", "::1:9721", "[127.0.0.1]:9721", "[::1]", "1.2.3:80"}) {
    const auto read = parsed({"--listen", address});
    ASSERT_FALSE(read) << address;
    EXPECT_EQ(read.error().code, kExporterUsage);
    EXPECT_THAT(read.error().text, HasSubstr("is not an address to listen at")) << address;
  }
}

TEST(ExporterArgumentsTest, RefusesWhatItDoesNotKnow) {
  const auto read = parsed({"--lissten", "x"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, kExporterUsage);
  EXPECT_THAT(read.error().text, HasSubstr("vmnuma-exporter --help"));
}

TEST(ExporterArgumentsTest, AMistypedOptionNamesTheNearest) {
  EXPECT_THAT(parsed({"--lsiten", "x"}).error().text,
              HasSubstr("there is no option '--lsiten'; did you mean '--listen'?"));
  EXPECT_THAT(parsed({"--sokcet=/s"}).error().text,
              HasSubstr("there is no option '--sokcet'; did you mean '--socket'?"));
}

TEST(ExporterArgumentsTest, AnArgumentIsOneTooMany) {
  EXPECT_THAT(parsed({"9721"}).error().text, HasSubstr("there is no argument '9721'\n"));
  EXPECT_THAT(parsed({"--", "--sim"}).error().text, HasSubstr("there is no argument '--sim'\n"));
}

TEST(ExporterArgumentsTest, HelpAndVersionAreASuccess) {
  for (const char* word : {"--help", "--version"}) {
    const auto read = parsed({word});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, kExporterOk);
    EXPECT_THAT(read.error().text, HasSubstr("vmnuma-exporter"));
  }
}

}  // namespace
}  // namespace vmnuma::tools
