// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/completion_words.h"

#include <map>
#include <sstream>

#include "balancer/policy/policy_keys.h"

namespace vmnuma::tools {

namespace {

constexpr std::string_view kOneOf = "one-of:";

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
  static const std::map<std::string_view, std::string> kKinds = {{"FILE", "file"},
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
    // The arguments of `set` up to their values: "nodes=|affinity_group=".
    std::string words;
    for (const auto& key : balancer::policy_keys()) {
      words.append(words.empty() ? "" : "|").append(key.name).append("=");
    }
    return one_of(words);
  }
  const auto kind = kKinds.find(name);
  return kind == kKinds.end() ? "" : kind->second;
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

std::string fish_options(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return out;
}

}  // namespace vmnuma::tools
