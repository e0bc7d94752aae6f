// SPDX-License-Identifier: Apache-2.0
/// What VMs were defined as before advice was applied.
///
/// Problem: who applies advice must be able to go back, also twice. Approach: a folder with a file
/// for each definition that was replaced, named by the VM's UUID and a number that grows. They hold
/// passwords and are defined again, so the folder belongs to whom the program runs as, and nobody
/// else may look into it or write there.
/// Properties: what is kept is on the disk before anything is changed; the newest is taken first;
/// the folder of another user is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::tools {

/// The most bytes of a domain's XML that are read from a file: somewhat more than libvirt's
/// protocol carries (REMOTE_STRING_MAX, remote/remote_protocol.x, 9.0).
inline constexpr std::size_t kMostXml = std::size_t{5} * 1024 * 1024;

struct KeptDefinition {
  std::string path;
  std::string xml;
};

/// Keeps `xml`; the path of its file. Makes the folder if there is none. Errors: permission-denied
/// (the folder is somebody else's, or open to others), those of files.
[[nodiscard]] Result<std::string> keep_definition(const std::string& folder,
                                                  const placement::VmId& vm,
                                                  const std::string& xml);

/// The newest that was kept of this VM. Errors: not-found, and as keep_definition().
[[nodiscard]] Result<KeptDefinition> newest_definition(const std::string& folder,
                                                       const placement::VmId& vm);

struct KeptFile {
  placement::VmId vm;
  std::string path;
  std::int64_t kept_unix_s = 0;
};

/// All that is kept, by VM, the newest of each first; none if there is no folder. Errors: as
/// keep_definition().
[[nodiscard]] Result<std::vector<KeptFile>> kept_definitions(const std::string& folder);

/// A file that is not there any more is no error.
[[nodiscard]] Result<void> forget_definition(const std::string& path);

}  // namespace vmnuma::tools
