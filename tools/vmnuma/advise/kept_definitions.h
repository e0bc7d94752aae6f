// SPDX-License-Identifier: Apache-2.0
/// Keeps the definitions of VMs from before advice was applied.
///
/// Problem: applied advice must be reversible, even repeatedly. Approach: a folder with one file
/// per replaced definition, named by the VM's UUID and an increasing number. The definitions
/// contain passwords and may be defined again, so the folder belongs to the user as whom the
/// program runs, and is inaccessible to all others.
///
/// Properties:
///  - a definition is on disk before anything is changed;
///  - the newest definition is restored first;
///  - another user's folder is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::tools {

struct KeptDefinition {
  std::string path;
  std::string xml;
};

/// Keeps `xml`; returns the path of its file. Creates the folder if necessary. Errors:
/// permission-denied (the folder belongs to another user, or is open to others), those of files.
[[nodiscard]] Result<std::string> keep_definition(const std::string& folder, const VmId& vm,
                                                  const std::string& xml);

/// Returns the newest definition kept for this VM. Errors: not-found, and as keep_definition().
[[nodiscard]] Result<KeptDefinition> newest_definition(const std::string& folder, const VmId& vm);

struct KeptFile {
  VmId vm;
  std::string path;
  std::int64_t kept_unix_s = 0;
};

/// Returns everything that is kept, by VM, newest first; nothing if there is no folder. Errors: as
/// keep_definition().
[[nodiscard]] Result<std::vector<KeptFile>> kept_definitions(const std::string& folder);

/// Deletes a file; it is not an error if the file no longer exists.
[[nodiscard]] Result<void> forget_definition(const std::string& path);

}  // namespace vmnuma::tools
