// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/model_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::stats {
namespace {

using ::testing::HasSubstr;

class ModelFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path() + "/model.json"; }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }
  void set_text(const std::string& text) const { std::ofstream(path()) << text; }
  /// The file with one text in place of another.
  void replace(const std::string& what, const std::string& by) const {
    std::string now = text();
    ASSERT_NE(now.find(what), std::string::npos);
    set_text(now.replace(now.find(what), what.size(), by));
  }
  [[nodiscard]] Error refusal() const {
    const auto model = read_model(path());
    EXPECT_FALSE(model);
    return model ? Error{} : model.error();
  }

  vmnuma::tests::TempDirectory directory_;
  TreeModel model_{{{{3, 500, 1, 2, 0}, {-1, 0, 0, 0, -250}, {-1, 0, 0, 0, 4000}}}, 29'000'000};
};

TEST_F(ModelFileTest, APipeInPlaceOfTheFileIsRefusedWithoutWaitingForItsWriter) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(refusal().message, HasSubstr("is not a regular file"));
}

TEST_F(ModelFileTest, GivesBackWhatWasWritten) {
  ASSERT_TRUE(write_model(path(), model_));
  EXPECT_EQ(read_model(path()).value(), model_);
  model_.trained_until = 7;
  ASSERT_TRUE(write_model(path(), model_));
  EXPECT_EQ(read_model(path()).value(), model_);
  EXPECT_FALSE(std::ifstream(path() + ".new").good());
}

TEST_F(ModelFileTest, AMissingFileIsNotFound) {
  EXPECT_EQ(refusal().code, ErrorCode::kNotFound);
  EXPECT_THAT(refusal().message, HasSubstr(path()));
}

TEST_F(ModelFileTest, EveryPlaceWhereItIsCutOffIsNoticed) {
  ASSERT_TRUE(write_model(path(), model_));
  // The last byte is a newline, which is not missed.
  for (std::size_t length = text().size() - 1; length > 0; --length) {
    std::filesystem::resize_file(path(), length - 1);
    EXPECT_FALSE(read_model(path())) << length - 1;
  }
}

TEST_F(ModelFileTest, AChangedNumberIsNoticed) {
  ASSERT_TRUE(write_model(path(), model_));
  replace("4000", "4001");
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refusal().message, HasSubstr("checksum"));
}

TEST_F(ModelFileTest, AnotherVersionIsRefused) {
  ASSERT_TRUE(write_model(path(), model_));
  replace("\"version\":1", "\"version\":2");
  EXPECT_EQ(refusal().code, ErrorCode::kUnsupported);
}

TEST_F(ModelFileTest, OtherFiguresAreRefused) {
  ASSERT_TRUE(write_model(path(), model_));
  auto file = nlohmann::json::parse(text());
  file["model"]["features"][0] = "yesterday";
  std::uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a
  for (const char c : file["model"].dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  }
  file["checksum"] = fmt::format("{:016x}", hash);
  set_text(file.dump());
  EXPECT_EQ(refusal().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refusal().message, HasSubstr("other figures"));
}

TEST_F(ModelFileTest, UnsoundTreesAreRefused) {
  for (const TreeNode& node : {TreeNode{3, 500, 0, 2, 0}, TreeNode{3, 500, 1, 3, 0},
                               TreeNode{99, 500, 1, 2, 0}, TreeNode{3, 500, -1, 2, 0}}) {
    TreeModel broken = model_;
    broken.trees[0][0] = node;
    ASSERT_TRUE(write_model(path(), broken));
    EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
  }
  ASSERT_TRUE(write_model(path(), TreeModel{{{}}, 0}));
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
}

TEST_F(ModelFileTest, FailsWhereItCannotWriteAndLeavesTheOldFile) {
  EXPECT_EQ(write_model(directory_.path() + "/no/model.json", model_).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace vmnuma::stats
