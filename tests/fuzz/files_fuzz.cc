// SPDX-License-Identifier: Apache-2.0
/// Any text in each JSON file and row that our programs keep and read again: orders of the journal,
/// the forecast model, kept latencies, the admission state. What is read, written and read again is
/// the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/controller/admission_state.h"
#include "migration/order_text.h"
#include "placement/forecast/tree_model.h"
#include "stats/forecast/model_file.h"
#include "stats/latency/latency_text.h"
#include "stats/text/json.h"
#include "tests/fuzz/json_mutation.h"

namespace {

/// The file with the checksum that its model asks for, or else no input would come past that.
std::string with_checksum(const std::string& text) {
  auto read = vmnuma::text::read_json<nlohmann::json>(text, {text.size()}, "it");
  if (!read || !read->contains("model")) {
    return text;
  }
  nlohmann::json& file = *read;
  std::uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a
  for (const char c : file["model"].dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  }
  file["checksum"] = fmt::format("{:016x}", hash);
  return file.dump();
}

void check_order(const std::string& text) {
  const auto order = vmnuma::migration::parse_order(text);
  if (order) {
    const auto again = vmnuma::migration::parse_order(to_text(*order));
    VMNUMA_CHECK(again && *again == *order);
  }
}

void check_model(const std::string& text) {
  const auto model = vmnuma::stats::parse_model(with_checksum(text));
  if (model) {
    VMNUMA_CHECK(is_sound(*model));
    const auto share = corrected(*model, {});
    VMNUMA_CHECK(share.value >= 0 && share.value <= 1000);
  }
}

void check_latencies(const std::string& text) {
  const auto kept = vmnuma::stats::parse_latencies(text);
  if (kept) {
    VMNUMA_CHECK(vmnuma::stats::parse_latencies(text_of(*kept)).has_value());
  }
}

void check_admission(const std::string& text) {
  const auto read = vmnuma::balancer::parse_admission(text);
  if (read) {
    const std::string written = to_text(read->state, read->stamp);
    const auto again = vmnuma::balancer::parse_admission(written);
    VMNUMA_CHECK(again && to_text(again->state, again->stamp) == written);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check_order(text);
  check_model(text);
  check_latencies(text);
  check_admission(text);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  return vmnuma::tests::mutate_json_line(data, size, max_size, seed);
}
