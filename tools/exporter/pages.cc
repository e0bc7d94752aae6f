// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/pages.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "placement/model/text.h"
#include "stats/text/json.h"
#include "stats/text/printable.h"
#include "tools/exporter/gzip.h"
#include "tools/exporter/metrics.h"
#include "tools/exporter/page_files.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJsonType = "application/json";

/// The daemon's answers are inserted unchanged.
std::string state_json(const Reading& reading) {
  Json head;
  head["up"] = reading.views.has_value();
  head["problem"] = reading.problem;
  head["time_ms"] = reading.time_unix_ms;
  head["answer_us"] = reading.took.count();
  head["exporter_version"] = VMNUMA_VERSION;
  std::string text = text::json_text(head);
  if (reading.views) {
    text.pop_back();
    text += ",\"status\":" + reading.views->status_json;
    text += ",\"host\":" + reading.views->host_json;
    text += ",\"history\":" + reading.views->history_json + "}";
  }
  return text;
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// Returns whether a name from a Host header, without the port, is this host's.
bool names_this_host(const std::string& host) {
  return host.empty() || host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && is_loopback(host));
}

}  // namespace

bool is_loopback(const std::string& address) {
  return address == "::1" || (address.starts_with("127.") &&
                              address.find_first_not_of("0123456789.") == std::string::npos);
}

Pages::Pages(bool only_local) : only_local_(only_local) {
  for (const PageFile& file : page_files()) {
    texts_[file.path] = {file.content_type, {shared(std::string(file.text))}};
  }
  show(Reading{std::nullopt, "the daemon has not been asked yet", 0, {}, 0, {}});
}

void Pages::show(const Reading& reading) {
  if (reading.time_unix_ms != 0) {
    past_.add(reading);
  }
  Text metrics{shared(metrics_text(reading))};
  Text state{shared(state_json(reading))};
  Text past{shared(past_.json())};
  const std::lock_guard lock(mutex_);
  texts_["/metrics"] = {kMetricsType, std::move(metrics)};
  texts_["/api/state"] = {kJsonType, std::move(state)};
  texts_["/api/past"] = {kJsonType, std::move(past)};
  for (auto& [uuid, readings] : wanted_) {
    --readings;
  }
  std::erase_if(wanted_, [](const auto& wanted) { return wanted.second <= 0; });
  explained_.clear();
  for (const auto& [uuid, json] :
       reading.views ? reading.views->explained : std::map<std::string, std::string>()) {
    explained_[uuid] = {shared(json)};
  }
  not_ready_ = !reading.views                   ? reading.problem
               : reading.views->host.epoch == 0 ? "the daemon has not measured an epoch yet"
                                                : "";
}

HttpResponse Pages::response(std::string_view type, Text& text, bool takes_gzip) {
  if (!takes_gzip) {
    return {200, type, text.plain};
  }
  if (text.packed == nullptr) {
    text.packed = shared(gzip(*text.plain));
  }
  return {200, type, text.packed, /*is_gzip=*/true};
}

std::vector<std::string> Pages::wanted() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> uuids;
  for (const auto& [uuid, readings] : wanted_) {
    uuids.push_back(uuid);
  }
  return uuids;
}

/// Call with the lock held.
HttpResponse Pages::explanation(const std::string& uuid, bool takes_gzip) const {
  if (wanted_.contains(uuid) || wanted_.size() < kMostWanted) {
    wanted_[uuid] = kWantedFor;
  }
  const auto found = explained_.find(uuid);
  return found != explained_.end() ? response(kJsonType, found->second, takes_gzip)
                                   : HttpResponse{200, kJsonType, shared(R"({"pending":true})")};
}

HttpResponse Pages::answer(const HttpRequest& request) const {
  if (only_local_ && !names_this_host(request.host)) {
    return HttpResponse::of(421, "This is served to this host only: use the address 127.0.0.1.\n");
  }
  if (request.path == "/healthz") {
    return HttpResponse::of(200, "ok\n");
  }
  const std::lock_guard lock(mutex_);
  if (request.path == "/readyz") {
    return not_ready_.empty() ? HttpResponse::of(200, "ok\n")
                              : HttpResponse::of(503, text::printable(not_ready_) + "\n");
  }
  constexpr std::string_view kVm = "/api/vm/";
  if (request.path.starts_with(kVm) && parse_vm_id(request.path.substr(kVm.size()))) {
    return explanation(request.path.substr(kVm.size()), request.takes_gzip);
  }
  const auto found = texts_.find(request.path);
  return found != texts_.end()
             ? response(found->second.first, found->second.second, request.takes_gzip)
             : HttpResponse::of(404, "There is no such page. Try / or /metrics.\n");
}

}  // namespace vmnuma::tools
