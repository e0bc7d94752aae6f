// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/apply.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/host/advise_xml.h"
#include "stats/text/json.h"
#include "tools/vmnuma/advise/kept_definitions.h"
#include "tools/vmnuma/advise/line_diff.h"
#include "tools/vmnuma/advise/virsh.h"
#include "tools/vmnuma/terminal/confirm.h"
#include "tools/vmnuma/terminal/messages.h"

namespace vmnuma::tools {

namespace {

/// Shows what would change and asks; true if it may be done.
bool may_define(const AdviseRun& run, const std::string& name, const std::string& before,
                const std::string& after, const Invocation& invocation,
                Surroundings& surroundings) {
  std::ostream& out = invocation.json ? surroundings.err : surroundings.out;
  out << line_diff(without_passwords(before), without_passwords(after), name + " as it is",
                   name + " as it would be")
      << std::flush;
  return run.yes ||
         is_confirmed(fmt::format("Define '{}' so, from its next start on?", name), surroundings);
}

int done(const Invocation& invocation, Surroundings& surroundings, const std::string& message) {
  const nlohmann::ordered_json json = {{"message", message}};
  return print(invocation, surroundings,
               (invocation.json ? text::json_text(json) : message) + "\n");
}

int not_done(const Invocation& invocation, Surroundings& surroundings) {
  return fail(invocation, surroundings,
              {ErrorCode::kUnavailable, 0, "not confirmed, so nothing was changed"}, kExitRefused);
}

}  // namespace

std::string without_passwords(std::string xml) {
  for (const std::string begin : {" passwd='", " passwd=\""}) {
    for (std::size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
      const std::size_t first = at + begin.size();
      const std::size_t end = xml.find(begin.back(), first);
      if (end == std::string::npos) {
        break;
      }
      xml.replace(first, end - first, "...");
    }
  }
  return xml;
}

int apply_advice(const AdviseRun& run, const AdvisedVm& vm, const Invocation& invocation,
                 Surroundings& surroundings) {
  if (vm.before == vm.after) {
    return done(invocation, surroundings,
                fmt::format("{} is defined as advised, nothing was changed", vm.name));
  }
  if (!may_define(run, vm.name, vm.before, vm.after, invocation, surroundings)) {
    return not_done(invocation, surroundings);
  }
  const auto kept = keep_definition(run.definitions_path, vm.id, vm.before);
  if (!kept) {
    return fail(invocation, surroundings, kept.error(), kExitRefused);
  }
  if (const auto defined = Virsh(run.uri).define(vm.after); !defined) {
    (void)forget_definition(*kept);  // it is what is defined, and would only be undone to itself
    return fail(invocation, surroundings, defined.error(), kExitRefused);
  }
  return done(
      invocation, surroundings,
      fmt::format("{0} starts so from now on; vmnuma advise --undo {0} goes back", vm.name));
}

int undo_advice(const AdviseRun& run, const Invocation& invocation, Surroundings& surroundings) {
  const Virsh virsh(run.uri);
  const auto now = virsh.definition(run.vm, /*with_passwords=*/true);
  if (!now) {
    return fail(invocation, surroundings, now.error(), kExitRefused);
  }
  const auto described = balancer::read_advice_request(*now, placement::kMiB);
  if (!described) {
    return fail(invocation, surroundings, described.error(), kExitRefused);
  }
  const auto kept = newest_definition(run.definitions_path, described->vm.id);
  if (!kept) {
    return fail(invocation, surroundings, kept.error(), kExitRefused);
  }
  const std::string& name = described->vm.name;
  if (!may_define(run, name, *now, kept->xml, invocation, surroundings)) {
    return not_done(invocation, surroundings);
  }
  if (const auto defined = virsh.define(kept->xml); !defined) {
    return fail(invocation, surroundings, defined.error(), kExitRefused);
  }
  if (const auto forgotten = forget_definition(kept->path); !forgotten) {
    return fail(invocation, surroundings, forgotten.error(), kExitRefused);
  }
  return done(invocation, surroundings, fmt::format("{} starts as before from now on", name));
}

}  // namespace vmnuma::tools
