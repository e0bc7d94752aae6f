// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_qemu.h"

#include <array>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/base/result.h"
#include "placement/model/text.h"

namespace vmnuma::tests {
namespace {

void await_answer(int fd) {
  char answer = 0;
  VMNUMA_CHECK(::read(fd, &answer, 1) == 1);
}

}  // namespace

FakeQemu::FakeQemu(const VmId& id, std::int32_t vcpus) {
  std::array<int, 2> commands{};
  std::array<int, 2> answers{};
  VMNUMA_CHECK(::pipe2(commands.data(), O_CLOEXEC) == 0);
  VMNUMA_CHECK(::pipe2(answers.data(), O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions{};
  VMNUMA_CHECK(::posix_spawn_file_actions_init(&actions) == 0);
  VMNUMA_CHECK(::posix_spawn_file_actions_adddup2(&actions, commands[0], STDIN_FILENO) == 0);
  VMNUMA_CHECK(::posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO) == 0);
  std::string program = VMNUMA_FAKE_QEMU;
  std::string option = "-uuid";
  std::string uuid = to_text(id);
  std::string count = std::to_string(vcpus);
  const std::array<char*, 5> arguments = {program.data(), option.data(), uuid.data(), count.data(),
                                          nullptr};
  VMNUMA_CHECK(
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(commands[0]);
  ::close(answers[1]);
  commands_ = commands[1];
  answers_ = answers[0];
  await_answer(answers_);
}

FakeQemu::~FakeQemu() {
  kill();
}

void FakeQemu::kill() {
  if (pid_ < 0) {
    return;
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  ::close(commands_);
  ::close(answers_);
}

void FakeQemu::command(std::string_view verb, std::int32_t vcpu) {
  const std::string line = std::string(verb) + " " + std::to_string(vcpu) + "\n";
  VMNUMA_CHECK(::write(commands_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  await_answer(answers_);
}

void FakeQemu::plug(std::int32_t vcpu) {
  command("plug", vcpu);
}
void FakeQemu::unplug(std::int32_t vcpu) {
  command("unplug", vcpu);
}
void FakeQemu::burn(std::int32_t vcpu) {
  command("burn", vcpu);
}

}  // namespace vmnuma::tests
