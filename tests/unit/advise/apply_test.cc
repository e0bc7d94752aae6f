// SPDX-License-Identifier: Apache-2.0
// `vmnuma advise --apply` and `--undo` with a virsh that keeps one VM in a file.
#include "tools/vmnuma/advise/apply.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/temp_directory.h"
#include "tools/vmnuma/advise/kept_definitions.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDefinition = R"(<domain type='kvm'>
  <name>web1</name>
  <uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3302</uuid>
  <memory unit='KiB'>131072</memory>
  <vcpu placement='static'>1</vcpu>
  <os>
    <type arch='x86_64'>hvm</type>
  </os>
  <devices>
    <graphics type='vnc' passwd='secret'/>
  </devices>
</domain>
)";

class ApplyTest : public testing::Test {
 protected:
  void SetUp() override {
    bin_ = directory_.path() + "/bin";
    std::filesystem::create_directory(bin_);
    vm_ = directory_.path() + "/vm.xml";
    log_ = directory_.path() + "/log";
    std::ofstream(vm_) << kDefinition;
    set_virsh("");
    path_ = std::getenv("PATH");
    ::setenv("PATH", (bin_ + ":" + path_).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  /// `on_define`: what it does before it takes a definition.
  void set_virsh(const std::string& on_define) {
    const std::string program = bin_ + "/virsh";
    std::ofstream(program) << "#!/bin/sh\necho \"$*\" >>'" + log_ +
                                  "'\ncase \" $* \" in\n*\" dumpxml \"*) cat '" + vm_ +
                                  "' ;;\n*\" define \"*) " + on_define + " cat >'" + vm_ +
                                  "' ;;\nesac\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  int run(std::vector<std::string> arguments, const std::string& answer,
          const std::string& vm = "web1") {
    arguments.insert(arguments.begin(), {"--definitions", directory_.path() + "/definitions"});
    if (!vm.empty()) {
      arguments.insert(arguments.begin(), vm);
    }
    arguments.insert(arguments.begin(), "advise");
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation.has_value()) << invocation.error().text;
    out_.str("");
    err_.str("");
    std::istringstream in(answer);
    Surroundings surroundings{.out = out_, .err = err_};
    surroundings.in = &in;
    return tools::run(*invocation, surroundings);
  }

  [[nodiscard]] std::string definition() const { return text_of(vm_); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  tests::TempDirectory directory_;
  std::string bin_;
  std::string vm_;
  std::string log_;
  std::string path_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ApplyTest, ChangesNothingUnlessTheUserSaysYes) {
  for (const char* answer : {"", "n\n", "maybe\n"}) {
    EXPECT_EQ(run({"--apply"}, answer), kExitRefused);
    EXPECT_THAT(out_.str(), HasSubstr("+  <vcpu placement='auto'>"));
    EXPECT_THAT(err_.str(), HasSubstr("nothing was changed"));
    EXPECT_EQ(definition(), kDefinition);
  }
  EXPECT_THAT(text_of(log_), Not(HasSubstr("define")));
}

TEST_F(ApplyTest, DefinesAsAdvisedAndGoesBack) {
  ASSERT_EQ(run({"--apply"}, "y\n"), kExitOk) << err_.str();
  EXPECT_THAT(definition(), HasSubstr("<vcpu placement='auto'>1</vcpu>"));
  EXPECT_THAT(definition(), HasSubstr("passwd='secret'"));
  EXPECT_THAT(text_of(log_), HasSubstr("dumpxml --inactive --security-info --domain web1"));
  EXPECT_EQ(run({"--apply", "--yes"}, ""), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("nothing was changed"));
  ASSERT_EQ(run({"--undo", "--yes"}, ""), kExitOk) << err_.str();
  EXPECT_EQ(definition(), kDefinition);
  EXPECT_EQ(run({"--undo", "--yes"}, ""), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("no earlier definition"));
}

TEST_F(ApplyTest, ListsWhatCanBeUndone) {
  EXPECT_EQ(run({"--undo"}, "", /*vm=*/""), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("no earlier definition is kept in"));
  ASSERT_EQ(run({"--apply", "--yes"}, ""), kExitOk);
  EXPECT_EQ(run({"--undo"}, "", /*vm=*/""), kExitOk) << err_.str();
  const std::string file =
      directory_.path() + "/definitions/3f2504e0-4f89-41d3-9a0c-0305e82c3302.1.xml";
  EXPECT_THAT(out_.str(), HasSubstr("web1  3f2504e0-4f89-41d3-9a0c-0305e82c3302  "));
  EXPECT_THAT(out_.str(), HasSubstr(file));
  ASSERT_EQ(run({"--undo", "--json"}, "", /*vm=*/""), kExitOk);
  const auto kept = nlohmann::json::parse(out_.str())["kept"];
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0]["vm"], "web1");
  EXPECT_EQ(kept[0]["file"], file);
  EXPECT_GT(kept[0]["kept_unix_s"].get<std::int64_t>(), 0);
  EXPECT_THAT(definition(), HasSubstr("<vcpu placement='auto'>"));  // nothing was undone
  ASSERT_EQ(run({"--undo", "--yes"}, ""), kExitOk);
  ASSERT_EQ(run({"--undo", "--json"}, "", /*vm=*/""), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["kept"].size(), 0U);
}

TEST_F(ApplyTest, ShowsNothingThatATerminalWouldObey) {
  std::string definition = kDefinition;
  definition.replace(definition.find("web1"), 4,
                     "web\xc2\x9b"
                     "1 $(x)\nno");
  definition.replace(definition.find("<vcpu"), 0, "<title>\xe2\x80\xae</title>\n  ");
  std::ofstream(vm_) << definition;
  for (const char* what : {"--apply", "--undo"}) {
    EXPECT_EQ(run({what}, "n\n"), kExitRefused);
    EXPECT_THAT(out_.str(), AllOf(HasSubstr("--- web\\u009b1 $(x)\\nno as it is\n"),
                                  HasSubstr("<title>\\u202e</title>\n")));
    EXPECT_THAT(err_.str(), HasSubstr("Define 'web\\u009b1 $(x)\\nno' like this"));
    ASSERT_EQ(run({what, "--yes"}, ""), kExitOk) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr("\nweb\\u009b1 $(x)\\nno has "));
    EXPECT_THAT(out_.str(), Not(HasSubstr("\xc2\x9b")));
    EXPECT_EQ(
        out_.str().find("--undo") != std::string::npos,
        out_.str().find("--undo $'web\\302\\2331 \\044\\050x\\051\\012no'") != std::string::npos);
  }
}

TEST_F(ApplyTest, IsToldAsJson) {
  ASSERT_EQ(run({"--apply", "--yes", "--json"}, ""), kExitOk);
  EXPECT_THAT(nlohmann::json::parse(out_.str())["message"].get<std::string>(),
              HasSubstr("vmnuma advise --undo web1"));
  EXPECT_THAT(err_.str(), HasSubstr("+  <vcpu placement='auto'>"));
}

TEST_F(ApplyTest, OnlyLooksOnAConnectionThatCannotChangeAnything) {
  EXPECT_EQ(run({}, ""), kExitOk);
  EXPECT_THAT(text_of(log_), HasSubstr("--readonly dumpxml --inactive --domain web1"));
}

TEST_F(ApplyTest, ShowsNoPasswords) {
  ASSERT_EQ(run({"--apply", "--yes"}, ""), kExitOk);
  EXPECT_THAT(out_.str(), Not(HasSubstr("secret")));
  ASSERT_EQ(run({"--undo", "--yes"}, ""), kExitOk);
  EXPECT_THAT(out_.str(), Not(HasSubstr("secret")));
  EXPECT_EQ(without_passwords("<a passwd='x'/><b passwd=\"y\"/>"),
            "<a passwd='...'/><b passwd=\"...\"/>");
}

TEST_F(ApplyTest, KeepsNothingOfADefinitionThatLibvirtRefuses) {
  set_virsh("echo 'error: not so' >&2; exit 1;");
  EXPECT_EQ(run({"--apply", "--yes"}, ""), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("error: not so"));
  EXPECT_EQ(definition(), kDefinition);
  EXPECT_EQ(run({"--undo", "--yes"}, ""), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("no earlier definition"));
}

TEST_F(ApplyTest, IsForAVmOfThisHost) {
  EXPECT_EQ(run({"--apply", "--host", "x"}, "y\n"), kExitUsage);
  EXPECT_EQ(run({"--undo", "--host", "x"}, "y\n"), kExitUsage);
  EXPECT_EQ(run({"--undo", "--xml", "x"}, "y\n", /*vm=*/""), kExitUsage);
  EXPECT_EQ(run({"--apply"}, "y\n", /*vm=*/""), kExitUsage);
}

TEST(KeptDefinitionsTest, TakesTheNewestFirstAndOfEachVmItsOwn) {
  const tests::TempDirectory directory;
  const std::string folder = directory.path() + "/kept";
  VmId other;
  other.uuid[0] = 1;
  for (int i = 1; i <= 11; ++i) {
    ASSERT_TRUE(keep_definition(folder, {}, std::to_string(i)).has_value());
  }
  ASSERT_TRUE(keep_definition(folder, other, "other").has_value());
  const auto newest = newest_definition(folder, {});
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->xml, "11");
  ASSERT_TRUE(forget_definition(newest->path).has_value());
  EXPECT_EQ(newest_definition(folder, {})->xml, "10");
}

TEST(KeptDefinitionsTest, ListsThoseOfEachVmTheNewestFirstAndNoOtherFile) {
  const tests::TempDirectory directory;
  const std::string folder = directory.path() + "/kept";
  EXPECT_TRUE(kept_definitions(folder)->empty());
  VmId other;
  other.uuid[0] = 1;
  ASSERT_TRUE(keep_definition(folder, other, "other").has_value());
  for (int i = 1; i <= 10; ++i) {
    ASSERT_TRUE(keep_definition(folder, {}, std::to_string(i)).has_value());
  }
  for (const char* name : {"x.1.xml", "00000000-0000-0000-0000-000000000000.xml", "notes"}) {
    std::ofstream(folder + "/" + name) << "x";
  }
  const auto kept = kept_definitions(folder);
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  ASSERT_EQ(kept->size(), 11U);
  EXPECT_THAT(kept->front().path, HasSubstr(".10.xml"));
  EXPECT_THAT((*kept)[9].path, HasSubstr(".1.xml"));
  EXPECT_EQ(kept->back().vm, other);
}

TEST(KeptDefinitionsTest, RefusesAFolderThatOthersMayEnter) {
  const tests::TempDirectory directory;
  const std::string folder = directory.path() + "/kept";
  ASSERT_TRUE(keep_definition(folder, {}, "x").has_value());
  std::filesystem::permissions(folder, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(keep_definition(folder, {}, "x").error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(newest_definition(folder, {}).error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(kept_definitions(folder).error().code, ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace vmnuma::tools
