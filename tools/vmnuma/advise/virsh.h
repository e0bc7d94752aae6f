// SPDX-License-Identifier: Apache-2.0
/// Definitions of VMs, read and written by virsh(1).
///
/// Problem: for the sake of one rarely used command, the others should not have to load libvirt and
/// its dependencies, which takes 60 ms. Approach: virsh is run when needed, without a shell.
/// Properties: only a VM's definition for its next start is written, never the running VM; no name
/// and no XML is taken for an option.
#pragma once

#include <string>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// The output of a program, run with these arguments and this standard input. Errors: not-found
/// (there is no such program), io, or unavailable with its standard error if it fails.
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& command,
                                            const std::string& input);

class Virsh {
 public:
  /// `program` is what is run; "virsh" except in tests.
  explicit Virsh(std::string uri, std::string program = "virsh")
      : uri_(std::move(uri)), program_(std::move(program)) {}

  /// The definition for the next start of the VM (name or UUID); with passwords if it is to be
  /// written back, which not every user may see. Errors: as output_of().
  [[nodiscard]] Result<std::string> definition(const std::string& vm, bool with_passwords) const;

  /// All VMs: each as for its next start, and running ones also as they are now, in any order.
  /// Errors: as output_of(), also if a VM disappears meanwhile.
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
