// SPDX-License-Identifier: Apache-2.0
/// Definitions of VMs, read and written by virsh(1).
///
/// Problem: a command that few call should not have every other one load libvirt and all that it
/// needs, which takes 60 ms. Approach: virsh is run when it is needed, without a shell.
/// Properties: only what libvirt keeps for a VM's next start is written, never what runs; no name
/// and no XML is taken for an option.
#pragma once

#include <string>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// What a program says, run with these arguments and this standard input. Errors: not-found (there
/// is no such program), io, or unavailable with its words on standard error if it fails.
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& command,
                                            const std::string& input);

class Virsh {
 public:
  /// `program` is what is run, "virsh" but in tests.
  explicit Virsh(std::string uri, std::string program = "virsh")
      : uri_(std::move(uri)), program_(std::move(program)) {}

  /// As the next start of the VM (name or UUID) reads it; with passwords if it is to be written
  /// back, which not everybody may see. Errors: as output_of().
  [[nodiscard]] Result<std::string> definition(const std::string& vm, bool with_passwords) const;

  /// Of all VMs: each as its next start reads it, and those that run as they are now, in any order.
  /// Errors: as output_of(), also if a VM goes away meanwhile.
  [[nodiscard]] Result<std::vector<std::string>> all() const;

  /// Defines a VM anew; libvirt holds it against its schema first. Errors: as output_of().
  [[nodiscard]] Result<void> define(const std::string& xml) const;

 private:
  [[nodiscard]] Result<std::string> run(const std::vector<std::string>& arguments,
                                        const std::string& input) const;

  std::string uri_;
  std::string program_;
};

}  // namespace vmnuma::tools
