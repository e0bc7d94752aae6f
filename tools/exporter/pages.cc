// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/pages.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/exporter/metrics.h"
#include "tools/exporter/page_files.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJsonType = "application/json";

/// The daemon's answers are put in as they came.
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

/// As it stands in a Host header, without the port.
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
  show(Reading{std::nullopt, "the daemon has not been asked yet", 0, {}, 0});
}

void Pages::show(const Reading& reading) {
  if (reading.time_unix_ms != 0) {
    past_.add(reading);
  }
  Text metrics = shared(metrics_text(reading));
  Text state = shared(state_json(reading));
  Text past = shared(past_.json());
  const std::lock_guard lock(mutex_);
  metrics_ = std::move(metrics);
  state_ = std::move(state);
  past_json_ = std::move(past);
}

HttpResponse Pages::answer(const HttpRequest& request) const {
  if (only_local_ && !names_this_host(request.host)) {
    return HttpResponse::of(421, "This is served to this host only: ask for 127.0.0.1.\n");
  }
  for (const PageFile& file : page_files()) {
    if (file.path == request.path) {
      return {200, file.content_type, shared(std::string(file.text))};
    }
  }
  const std::lock_guard lock(mutex_);
  if (request.path == "/metrics") {
    return {200, kMetricsType, metrics_};
  }
  if (request.path == "/api/state") {
    return {200, kJsonType, state_};
  }
  if (request.path == "/api/past") {
    return {200, kJsonType, past_json_};
  }
  return HttpResponse::of(404, "There is nothing here. Try / or /metrics.\n");
}

}  // namespace vmnuma::tools
