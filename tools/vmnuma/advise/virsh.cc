// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/virsh.h"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"
#include "stats/formats/fields.h"

namespace vmnuma::tools {

namespace {

using files::FileDescriptor;

constexpr std::size_t kVmsAtOnce = 64;
constexpr std::string_view kEndOfDomain = "</domain>\n";

/// Makes a file in memory with that text, positioned at its beginning. It is not on disk because
/// the text may be secret.
Result<FileDescriptor> memory_file(const std::string& text) {
  FileDescriptor file(memfd_create("vmnuma", MFD_CLOEXEC));
  if (file.get() < 0) {
    return tl::unexpected(files::system_error(errno, "cannot make a file in memory"));
  }
  if (!files::write_all(file.get(), text) || lseek(file.get(), 0, SEEK_SET) != 0) {
    return tl::unexpected(files::system_error(errno, "cannot write a file in memory"));
  }
  return file;
}

Result<std::string> written_to(const FileDescriptor& file) {
  std::string text(kMostXml, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = files::uninterrupted([&] {
      return pread(file.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    });
    if (got < 0) {
      return tl::unexpected(files::system_error(errno, "cannot read a file in memory"));
    }
    if (got == 0) {
      text.resize(size);
      return text;
    }
    size += static_cast<std::size_t>(got);
  }
  return failure(ErrorCode::kIo, "its output is longer than any definition");
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& command, const std::string& input) {
  const auto in = memory_file(input);
  const auto out = memory_file("");
  const auto err = memory_file("");
  if (!in || !out || !err) {
    return tl::unexpected(!in ? in.error() : !out ? out.error() : err.error());
  }
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in->get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out->get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err->get(), STDERR_FILENO);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int refusal =
      posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refusal != 0) {
    return tl::unexpected(
        files::system_error(refusal, fmt::format("cannot run '{}'", command.front())));
  }
  int status = 0;
  if (files::uninterrupted([&] { return waitpid(child, &status, 0); }) < 0) {
    return tl::unexpected(
        files::system_error(errno, fmt::format("cannot wait for '{}'", command.front())));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return written_to(*out);
  }
  std::string complaint = written_to(*err).value_or("");
  while (complaint.ends_with('\n')) {
    complaint.pop_back();
  }
  return failure(ErrorCode::kUnavailable,
                 fmt::format("'{}' failed: {}", command.front(), complaint));
}

Result<std::string> Virsh::run(const std::vector<std::string>& arguments,
                               const std::string& input) const {
  std::vector<std::string> command{program_, "--quiet", "--connect", uri_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto said = output_of(command, input);
  if (!said && said.error().code == ErrorCode::kNotFound) {
    return failure(ErrorCode::kNotFound,
                   said.error().message + "; Debian has it in the package libvirt-clients");
  }
  return said;
}

Result<std::string> Virsh::definition(const std::string& vm, bool with_passwords) const {
  // Any user may use a read-only connection; it does not show passwords.
  return run(
      with_passwords
          ? std::vector<std::string>{"dumpxml", "--inactive", "--security-info", "--domain", vm}
          : std::vector<std::string>{"--readonly", "dumpxml", "--inactive", "--domain", vm},
      "");
}

Result<std::vector<std::string>> Virsh::all() const {
  VMNUMA_ASSIGN_OR_RETURN(auto listed, run({"--readonly", "list", "--all", "--uuid"}, ""));
  std::vector<std::string> definitions;
  std::string_view vms = listed;
  while (!vms.empty()) {
    // Many VMs per virsh, but not so many that its output exceeds the limit.
    std::string commands;
    for (std::size_t i = 0; i < kVmsAtOnce && !vms.empty(); ++i) {
      if (const std::string_view vm = *stats::take_line(vms); !vm.empty()) {
        commands += fmt::format("dumpxml --inactive {0}; dumpxml {0}; ", vm);
      }
    }
    if (commands.empty()) {
      continue;
    }
    VMNUMA_ASSIGN_OR_RETURN(const auto said, run({"--readonly", commands}, ""));
    std::string_view rest = said;
    for (std::size_t end = 0; (end = rest.find(kEndOfDomain)) != std::string_view::npos;) {
      definitions.emplace_back(rest.substr(0, end + kEndOfDomain.size()));
      rest.remove_prefix(end + kEndOfDomain.size());
    }
  }
  return definitions;
}

Result<void> Virsh::define(const std::string& xml) const {
  return run({"define", "--validate", "--file", "/dev/stdin"}, xml).map([](const std::string&) {});
}

}  // namespace vmnuma::tools
