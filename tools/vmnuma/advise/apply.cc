// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/apply.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/host/advise_xml.h"
#include "placement/model/text.h"
#include "stats/files/file.h"
#include "stats/formats/fields.h"
#include "stats/text/json.h"
#include "stats/text/shell_word.h"
#include "tools/vmnuma/advise/kept_definitions.h"
#include "tools/vmnuma/advise/line_diff.h"
#include "tools/vmnuma/advise/virsh.h"
#include "tools/vmnuma/terminal/confirm.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// Makes a diff printable, line by line: it is for humans, not for patch(1).
std::string printable_lines(std::string_view diff) {
  std::string lines;
  while (const auto line = stats::take_line(diff)) {
    lines += printable(*line) + "\n";
  }
  return lines;
}

/// Shows what would change and asks for confirmation; returns whether it was given.
bool may_define(const AdviseRun& run, const std::string& name, const std::string& before,
                const std::string& after, const Invocation& invocation,
                Surroundings& surroundings) {
  std::ostream& out = invocation.json ? surroundings.err : surroundings.out;
  out << printable_lines(line_diff(without_passwords(before), without_passwords(after),
                                   name + " as it is", name + " as it would be"))
      << std::flush;
  return run.yes ||
         is_confirmed(fmt::format("Define '{}' like this, from its next start on?", name),
                      surroundings);
}

int done(const Invocation& invocation, Surroundings& surroundings, const std::string& message) {
  const nlohmann::ordered_json json = {{"message", message}};
  return print(invocation, surroundings,
               (invocation.json ? text::json_text(json) : printable(message)) + "\n");
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
                fmt::format("{} is defined as advised already, nothing was changed", vm.name));
  }
  if (!may_define(run, vm.name, vm.before, vm.after, invocation, surroundings)) {
    return not_done(invocation, surroundings);
  }
  const auto kept = keep_definition(run.definitions_path, vm.id, vm.before);
  if (!kept) {
    return fail(invocation, surroundings, kept.error(), kExitRefused);
  }
  if (const auto defined = Virsh(run.uri).define(vm.after); !defined) {
    (void)forget_definition(
        *kept);  // it equals the current definition, so there is nothing to undo
    return fail(invocation, surroundings, defined.error(), kExitRefused);
  }
  return done(invocation, surroundings,
              fmt::format("{} has the advised definition from its next start on; 'vmnuma advise "
                          "--undo {}' restores the earlier one",
                          vm.name, text::shell_word(vm.name)));
}

int undo_advice(const AdviseRun& run, const Invocation& invocation, Surroundings& surroundings) {
  const Virsh virsh(run.uri);
  const auto now = virsh.definition(run.vm, /*with_passwords=*/true);
  if (!now) {
    return fail(invocation, surroundings, now.error(), kExitRefused);
  }
  const auto described = balancer::read_advice_request(*now, kMiB);
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
  return done(invocation, surroundings,
              fmt::format("{} has its earlier definition from its next start on", name));
}

int list_undo(const AdviseRun& run, const Invocation& invocation, Surroundings& surroundings) {
  const auto kept = kept_definitions(run.definitions_path);
  if (!kept) {
    return fail(invocation, surroundings, kept.error(), kExitRefused);
  }
  Table table({{"VM"}, {"UUID"}, {"kept"}, {"file"}});
  nlohmann::ordered_json json = {{"kept", nlohmann::ordered_json::array()}};
  for (const KeptFile& file : *kept) {
    const std::string uuid = to_text(file.vm);
    const std::string name = files::read_file(file.path, kMostXml)
                                 .and_then([](const std::string& xml) {
                                   return balancer::read_advice_request(xml, kMiB);
                                 })
                                 .map([](const AdviceRequest& request) { return request.vm.name; })
                                 .value_or("-");
    table.add_row({name, uuid, local_time_text(file.kept_unix_s), file.path});
    json["kept"].push_back(
        {{"vm", name}, {"uuid", uuid}, {"kept_unix_s", file.kept_unix_s}, {"file", file.path}});
  }
  if (invocation.json) {
    return print(invocation, surroundings, text::json_text(json) + "\n");
  }
  return print(invocation, surroundings,
               table.empty()
                   ? fmt::format("no earlier definition is kept in '{}'\n", run.definitions_path)
                   : table.text());
}

}  // namespace vmnuma::tools
