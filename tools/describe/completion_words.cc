// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/completion_words.h"

#include <sstream>

#include "balancer/policy/policy_keys.h"

namespace vmnuma::tools {

namespace {

constexpr std::string_view kOneOf = "one-of:";

/// Returns the arguments of `set` up to their values: "nodes=|affinity_group=".
std::string policy_settings() {
  std::string words;
  for (const auto& key : balancer::policy_keys()) {
    words.append(words.empty() ? "" : "|").append(key.name).append("=");
  }
  return words;
}

}  // namespace

std::string one_of(std::string_view words) {
  return std::string(kOneOf).append(words);
}

std::vector<std::string> words_of(std::string_view kind) {
  std::vector<std::string> words;
  if (kind.starts_with(kOneOf)) {
    std::istringstream text{std::string(kind.substr(kOneOf.size()))};
    for (std::string word; std::getline(text, word, '|');) {
      words.push_back(word);
    }
  }
  return words;
}

std::string kind_named(std::string_view name) {
  struct Kind {
    std::string_view name;
    std::string_view kind;
  };
  static constexpr Kind kKinds[] = {{"FILE", "file"},
                                    {"PATH", "file"},
                                    {"VM", "vm"},
                                    {"NODE", "node"},
                                    {"DIR", "file"},
                                    {"SCENARIO", "scenario"},
                                    {"NAME", "option"},
                                    {"VM[/CLIENT]=NODE", "vm="},
                                    {"NAME=VALUE", "option="}};
  if (name.find('|') != std::string_view::npos) {
    return one_of(name);
  }
  if (name == "SETTING") {
    return one_of(policy_settings());
  }
  for (const Kind& kind : kKinds) {
    if (kind.name == name) {
      return std::string(kind.kind);
    }
  }
  return "";
}

std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return out + "'";
}

std::string fish_option(std::string_view name) {
  return name.starts_with("--") ? std::string(" -l ").append(name.substr(2))
                                : std::string(" -s ").append(name.substr(1));
}

}  // namespace vmnuma::tools
