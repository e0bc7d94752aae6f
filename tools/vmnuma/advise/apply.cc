// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/apply.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/host/advise_xml.h"
#include "placement/model/text.h"
#include "stats/files/file.h"
#include "stats/text/json.h"
#include "stats/text/shell_word.h"
#include "tools/vmnuma/advise/kept_definitions.h"
#include "tools/vmnuma/advise/line_diff.h"
#include "tools/vmnuma/advise/virsh.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// Shows what would change and asks for confirmation. Failure: it was not given.
OrFailure<void> confirm(const AdviseRun& run, const std::string& name, const std::string& before,
                        const std::string& after, const Context& context) {
  // Printable, because the diff is for humans, not for patch(1).
  const std::string diff =
      printable_lines(line_diff(without_passwords(before), without_passwords(after),
                                name + " as it is", name + " as it would be"));
  if (!context.may_do(diff, fmt::format("Define '{}' like this, from its next start on?", name),
                      run.yes)) {
    return failure(ErrorCode::kUnavailable, "not confirmed, so nothing was changed");
  }
  return {};
}

int done(const Context& context, const std::string& message) {
  return context.print({{"message", message}}, printable(message) + "\n");
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

OrFailure<int> apply_advice(const AdviseRun& run, const AdvisedVm& vm, const Context& context) {
  if (vm.before == vm.after) {
    return done(context,
                fmt::format("{} is defined as advised already, nothing was changed", vm.name));
  }
  VMNUMA_RETURN_IF_ERROR(confirm(run, vm.name, vm.before, vm.after, context));
  VMNUMA_ASSIGN_OR_RETURN(const auto kept, keep_definition(run.definitions_path, vm.id, vm.before));
  if (auto defined = Virsh(run.uri).define(vm.after); !defined) {
    (void)forget_definition(kept);  // it equals the current definition, so there is nothing to undo
    return tl::unexpected(std::move(defined).error());
  }
  return done(context,
              fmt::format("{} has the advised definition from its next start on; 'vmnuma advise "
                          "--undo {}' restores the earlier one",
                          vm.name, text::shell_word(vm.name)));
}

OrFailure<int> undo_advice(const AdviseRun& run, const Context& context) {
  const Virsh virsh(run.uri);
  VMNUMA_ASSIGN_OR_RETURN(const auto now, virsh.definition(run.vm, /*with_passwords=*/true));
  VMNUMA_ASSIGN_OR_RETURN(const auto described, balancer::read_advice_request(now, kMiB));
  VMNUMA_ASSIGN_OR_RETURN(const auto kept,
                          newest_definition(run.definitions_path, described.vm.id));
  const std::string& name = described.vm.name;
  VMNUMA_RETURN_IF_ERROR(confirm(run, name, now, kept.xml, context));
  VMNUMA_RETURN_IF_ERROR(virsh.define(kept.xml));
  VMNUMA_RETURN_IF_ERROR(forget_definition(kept.path));
  return done(context, fmt::format("{} has its earlier definition from its next start on", name));
}

OrFailure<int> list_undo(const AdviseRun& run, const Context& context) {
  VMNUMA_ASSIGN_OR_RETURN(const auto kept, kept_definitions(run.definitions_path));
  Table table({{"VM"}, {"UUID"}, {"kept"}, {"file"}});
  nlohmann::ordered_json json = {{"kept", nlohmann::ordered_json::array()}};
  for (const KeptFile& file : kept) {
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
  return context.print(json, table.empty() ? fmt::format("no earlier definition is kept in '{}'\n",
                                                         run.definitions_path)
                                           : table.text());
}

}  // namespace vmnuma::tools
