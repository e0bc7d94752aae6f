// SPDX-License-Identifier: Apache-2.0
#include "stats/text/archive.h"

#include <array>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "placement/model/amounts.h"

namespace vmnuma::text {
namespace {

using Json = nlohmann::ordered_json;

enum class Colour { kRed, kBlue };
constexpr auto names(Colour) {
  return names_in_order<Colour>("red", "blue");
}

struct Inner {
  std::int32_t number = 0;
  bool operator==(const Inner&) const = default;
};

struct Outer {
  bool flag = false;
  std::string word;
  Colour colour{};
  Bytes size;
  std::size_t index = 0;
  NodeId node;
  VmId vm;
  ClientId client;
  std::optional<std::int64_t> figure;
  std::vector<Inner> list;
  std::array<std::int32_t, 2> two{};
  std::map<std::string, Inner> map;
  bool operator==(const Outer&) const = default;
};

template <class Fields, MaybeConst<Inner> T>
void visit_fields(Fields& fields, T& inner) {
  fields("number", inner.number);
}
template <class Fields, MaybeConst<Outer> T>
void visit_fields(Fields& fields, T& outer) {
  fields("flag", outer.flag);
  fields("word", outer.word);
  fields("colour", outer.colour, "what others are told");
  fields("size", outer.size);
  fields("index", outer.index);
  fields("node", outer.node);
  fields("vm", outer.vm);
  fields("client", outer.client);
  fields("figure", outer.figure);
  fields("list", outer.list);
  fields("two", outer.two);
  fields("map", outer.map);
}

class Writer : public FieldWriter<Writer, Json> {};
class Reader : public FieldReader<Reader, Json> {
  using FieldReader::FieldReader;
};

Outer example() {
  Outer outer{.flag = true,
              .word = "w",
              .colour = Colour::kBlue,
              .size = kGiB,
              .index = 7,
              .node = {3},
              .vm = {},
              .client = {},
              .figure = 5,
              .list = {{1}, {2}},
              .two = {8, 9},
              .map = {{"a", {4}}}};
  outer.vm.uuid[0] = 1;
  outer.client = {outer.vm, 2};
  return outer;
}

Json written() {
  return Writer().write(example());
}

std::string complaint(const Json& json) {
  Outer outer;
  const Result<void> read = Reader(json).read(outer);
  return read ? "accepted" : read.error().message;
}

TEST(ArchiveTest, WhatIsWrittenIsReadAsTheSame) {
  Outer outer;
  ASSERT_TRUE(Reader(written()).read(outer));
  EXPECT_EQ(outer, example());
  Outer unset;
  ASSERT_TRUE(Reader(Writer().write(Outer{})).read(unset));
  EXPECT_EQ(unset, Outer{});
}

TEST(ArchiveTest, ValuesHaveTheFormThatIsDocumented) {
  EXPECT_EQ(json_text(written()),
            R"({"flag":true,"word":"w","colour":"blue","size":1073741824,"index":7,"node":3,)"
            R"("vm":"01000000-0000-0000-0000-000000000000",)"
            R"("client":["01000000-0000-0000-0000-000000000000",2],"figure":5,)"
            R"("list":[{"number":1},{"number":2}],"two":[8,9],"map":[["a",{"number":4}]]})");
}

TEST(ArchiveTest, TheFirstFieldThatIsWrongIsNamedByItsPath) {
  Json json = written();
  json["list"][1]["number"] = "2";
  json["map"] = 7;
  EXPECT_EQ(complaint(json), "'list[1].number' is not what it should be");
  json["list"][1].erase("number");
  EXPECT_EQ(complaint(json), "'list[1].number' is missing");
  json["list"] = Json::array({1});
  EXPECT_EQ(complaint(json), "'list[0]' is not what it should be");
  json["list"] = Json::array();
  EXPECT_EQ(complaint(json), "'map' is not what it should be");
  EXPECT_EQ(complaint(Json::array()), "it is not an object");
}

TEST(ArchiveTest, AValueOfAnotherKindIsRefused) {
  for (const auto& [name, value] : {std::pair<const char*, Json>{"flag", 1},
                                    {"word", 1},
                                    {"colour", "green"},
                                    {"size", 1.5},
                                    {"index", -1},
                                    {"node", 4294967296},
                                    {"vm", "x"},
                                    {"client", Json::array({"x"})},
                                    {"figure", "x"},
                                    {"two", Json::array({1})},
                                    {"map", Json::array({1})}}) {
    Json json = written();
    json[name] = value;
    EXPECT_TRUE(complaint(json).starts_with(std::string("'") + name)) << name << complaint(json);
  }
}

}  // namespace
}  // namespace vmnuma::text
