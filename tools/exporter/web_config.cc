// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/web_config.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "stats/files/file.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kMostText = std::size_t{256} * 1024;

/// An exception that is used only within this file; callers get a Result.
struct Wrong {
  std::string what;
};

[[noreturn]] void refuse(const YAML::Node& node, const std::string& what) {
  throw Wrong{fmt::format("line {}: {}", node.Mark().line + 1, what)};
}

std::string text_of(const std::string& key, const YAML::Node& node) {
  if (!node.IsScalar()) {
    refuse(node, fmt::format("'{}' is not text", key));
  }
  return node.Scalar();
}

template <class Enum>
Enum choice(const std::string& key, const YAML::Node& node) {
  const std::string text = text_of(key, node);
  if (const auto value = value_named<Enum>(text)) {
    return *value;
  }
  refuse(node, fmt::format("'{}' is '{}', but must be one of: {}", key, text, kChoices<Enum>));
}

/// Calls `take(key, value)` for each entry of a map; it returns false for an unknown key.
template <class Take>
void each_of(const std::string& what, const YAML::Node& map, const Take& take) {
  if (map.IsNull()) {
    return;
  }
  if (!map.IsMap()) {
    refuse(map, fmt::format("{} has no keys", what));
  }
  for (const auto& entry : map) {
    const std::string key = text_of(what, entry.first);
    if (!take(key, entry.second)) {
      refuse(entry.first, fmt::format("key '{}' of {} is not known here", key, what));
    }
  }
}

TlsConfig tls_of(const YAML::Node& node, const std::filesystem::path& folder) {
  TlsConfig tls;
  each_of("tls_server_config", node, [&](const std::string& key, const YAML::Node& value) {
    const auto path = [&] { return folder / text_of(key, value); };
    if (key == "cert_file") {
      tls.cert_file = path();
    } else if (key == "key_file") {
      tls.key_file = path();
    } else if (key == "client_ca_file") {
      tls.client_ca_file = path();
    } else if (key == "client_auth_type") {
      tls.client_auth = choice<ClientAuth>(key, value);
    } else if (key == "min_version") {
      tls.min_version = choice<TlsVersion>(key, value);
    } else if (key == "max_version") {
      tls.max_version = choice<TlsVersion>(key, value);
    } else {
      return false;
    }
    return true;
  });
  if (tls.cert_file.empty() || tls.key_file.empty()) {
    refuse(node, "tls_server_config needs cert_file and key_file");
  }
  if (tls.client_ca_file.empty() != (tls.client_auth == ClientAuth::kNone)) {
    refuse(node, "client_ca_file and a client_auth_type that verifies need each other");
  }
  if (tls.max_version < tls.min_version) {
    refuse(node, "max_version is below min_version");
  }
  return tls;
}

WebUsers users_of(const YAML::Node& node) {
  WebUsers users;
  each_of("basic_auth_users", node, [&](const std::string& name, const YAML::Node& value) {
    const std::string hash = text_of(name, value);
    const bool is_bcrypt = hash.size() == 60 && hash.starts_with("$2") && hash[3] == '$';
    if (!is_bcrypt) {
      refuse(value, fmt::format("the password of '{}' is not a bcrypt hash", name));
    }
    if (name.empty() || name.find(':') != std::string::npos) {
      refuse(value, fmt::format("'{}' cannot be the name of a user", name));
    }
    users.insert_or_assign(name, hash);
    return true;
  });
  return users;
}

}  // namespace

Result<WebConfig> parse_web_config(std::string_view text, const std::filesystem::path& folder) {
  try {
    WebConfig config;
    each_of("the file", YAML::Load(std::string(text)),
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "tls_server_config") {
                config.tls = tls_of(value, folder);
              } else if (key == "basic_auth_users") {
                config.users = users_of(value);
              } else {
                return false;
              }
              return true;
            });
    return config;
  } catch (const Wrong& wrong) {
    return failure(ErrorCode::kInvalidArgument, wrong.what);
  } catch (const YAML::Exception& exception) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("line {}: {}", exception.mark.line + 1, exception.msg));
  }
}

Result<WebConfig> read_web_config(const std::filesystem::path& file) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, files::read_file(file, kMostText));
  auto config = parse_web_config(text, file.parent_path());
  if (!config) {
    return failure(config.error().code,
                   fmt::format("'{}': {}", file.string(), config.error().message));
  }
  return config;
}

}  // namespace vmnuma::tools
