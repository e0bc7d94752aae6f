// SPDX-License-Identifier: Apache-2.0
/// Reads and writes definitions of VMs with virsh(1).
///
/// Problem: loading libvirt and its dependencies takes 60 ms, which one rarely used command should
/// not impose on all others. Approach: run virsh when needed, without a shell. Properties: only a
/// VM's definition for its next start is written, never the running VM; no name and no XML can be
/// mistaken for an option.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Runs a program with these arguments and this standard input, and returns its output. Errors:
/// not-found (there is no such program), io, or unavailable with its standard error if it fails.
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& command,
                                            const std::string& input);

/// Limit for a domain's XML, in bytes: somewhat more than libvirt's protocol supports
/// (REMOTE_STRING_MAX, remote/remote_protocol.x, 9.0).
inline constexpr std::size_t kMostXml = std::size_t{5} * 1024 * 1024;

class Virsh {
 public:
  /// `program` is "virsh" except in tests.
  explicit Virsh(std::string uri, std::string program = "virsh")
      : uri_(std::move(uri)), program_(std::move(program)) {}

  /// Returns the definition for the next start of the VM (name or UUID). Passwords, which not every
  /// user may see, are included if requested; this is necessary to write the definition back.
  /// Errors: as output_of().
  [[nodiscard]] Result<std::string> definition(const std::string& vm, bool with_passwords) const;

  /// Returns the definitions of all VMs in any order: each as for its next start, and running VMs
  /// also as they are now. Errors: as output_of(), also if a VM disappears in the meantime.
  [[nodiscard]] Result<std::vector<std::string>> all() const;

  /// Redefines a VM; libvirt checks it against its schema first. Errors: as output_of().
  [[nodiscard]] Result<void> define(const std::string& xml) const;

 private:
  [[nodiscard]] Result<std::string> run(const std::vector<std::string>& arguments,
                                        const std::string& input) const;

  std::string uri_;
  std::string program_;
};

}  // namespace vmnuma::tools
