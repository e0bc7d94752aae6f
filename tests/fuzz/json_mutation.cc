// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/json_mutation.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace vmnuma::tests {

namespace {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t end) {
  return end == 0 ? 0 : random() % end;
}

/// All values of a text; numbers in long lists, which are most of them, count no more than others.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (json.is_structured()) {
    for (Json& element : json) {
      collect(element, values);
    }
  }
}

Json another_number(const Json& value, Random& random) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t now = value.is_number_integer() ? value.get<std::int64_t>() : 0;
  const std::int64_t numbers[] = {-1,
                                  0,
                                  1,
                                  2,
                                  now / 2,
                                  -(now / 2),
                                  255,
                                  1000,
                                  65536,
                                  2147483647,
                                  -2147483648LL,
                                  4294967296,
                                  kLargest,
                                  -kLargest,
                                  kLargest / 1000,
                                  std::int64_t{1} << 52U,
                                  std::int64_t{1} << 38U,
                                  now < kLargest ? now + 1 : now,
                                  now > -kLargest ? now - 1 : now};
  return numbers[below(random, std::size(numbers))];
}

Json another_kind(Random& random) {
  const Json kinds[] = {Json(nullptr),  Json(true),
                        Json(""),       Json("x"),
                        Json(1.5),      Json::array(),
                        Json::object(), Json::array({Json::array()}),
                        Json(7),        Json(18446744073709551615U)};
  return kinds[below(random, std::size(kinds))];
}

void change(Json& value, const Json& other, Random& random) {
  const std::size_t how = below(random, 16);
  if (how == 0) {
    value = another_kind(random);
  } else if (how == 1) {
    value = Json(other);
  } else if (value.is_number()) {
    value = another_number(value, random);
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_array() && !value.empty()) {
    const std::size_t at = below(random, value.size());
    if (how % 2 == 0) {
      value.erase(at);
    } else if (how % 3 == 0) {
      value.push_back(Json(value[at]));
    } else {
      std::swap(value[at], value[below(random, value.size())]);
    }
  } else if (value.is_object() && !value.empty()) {
    auto member = value.begin();
    std::advance(member, below(random, value.size()));
    value.erase(member);
  } else {
    value = another_kind(random);
  }
}

}  // namespace

std::size_t mutate_json_line(std::uint8_t* data, std::size_t size, std::size_t max_size,
                             unsigned int seed) {
  Random random(seed);
  const std::string text(data, data + size);
  if (below(random, 50) == 0 || text.empty()) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string& line = lines[below(random, lines.size())];
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::vector<Json*> values;
  collect(json, values);
  Json* value = values[below(random, values.size())];
  const Json other = *values[below(random, values.size())];
  change(*value, other, random);
  line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string changed;
  for (const std::string& one : lines) {
    changed += one + "\n";
  }
  if (changed.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}

}  // namespace vmnuma::tests
