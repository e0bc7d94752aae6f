// SPDX-License-Identifier: Apache-2.0
/// Any bytes as the exporter's web configuration: an error with its line, or a configuration that
/// says all that it must.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/exporter/web_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmnuma::tools;
  const auto config = parse_web_config({reinterpret_cast<const char*>(data), size}, "/etc/vmnuma");
  if (!config) {
    VMNUMA_CHECK(config.error().code == vmnuma::ErrorCode::kInvalidArgument);
    VMNUMA_CHECK(config.error().message.starts_with("line "));
    return 0;
  }
  if (config->tls) {
    VMNUMA_CHECK(!config->tls->cert_file.empty() && !config->tls->key_file.empty());
    VMNUMA_CHECK(config->tls->client_ca_file.empty() ==
                 (config->tls->client_auth == ClientAuth::kNone));
    VMNUMA_CHECK(config->tls->min_version <= config->tls->max_version);
  }
  for (const auto& [name, hash] : config->users) {
    VMNUMA_CHECK(!name.empty() && hash.size() == 60);
  }
  return 0;
}
