// SPDX-License-Identifier: Apache-2.0
/// The arguments of each request, listed once for reading and writing. Internal to this folder.
///
/// `fields.required(NAME, value)` and `fields.optional(NAME, value)`; the names are those in the
/// line. A value may be a list, also of objects that are listed here themselves.
#pragma once

#include <concepts>
#include <type_traits>

#include "balancer/protocol/request.h"

namespace vmnuma::balancer {

/// T itself when reading, const T when writing.
template <class Value, class T>
concept MaybeConst = std::same_as<std::remove_const_t<Value>, T>;

/// Requests without arguments.
template <class Fields, class T>
void visit_arguments(Fields& /*fields*/, T& /*request*/) {
  static_assert(std::is_empty_v<T>, "this request's arguments are not listed");
}

template <class Fields, MaybeConst<StatsRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("type", request.type);
}

template <class Fields, MaybeConst<ExplainRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm", request.vm);
}

template <class Fields, MaybeConst<HistoryRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.optional("limit", request.limit);
  fields.optional_time("since", request.since_unix_s);
  fields.optional("vm", request.vm);
  fields.optional("node", request.node);
  fields.optional("reason", request.reason);
}

template <class Fields, MaybeConst<OptionsGetRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("name", request.name);
}

template <class Fields, MaybeConst<OptionsSetRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("name", request.name);
  fields.required("value", request.value);
  fields.optional("persist", request.persist);
}

template <class Fields, MaybeConst<MoveRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm", request.vm);
  fields.required("node", request.node);
  fields.optional("client", request.client);
}

template <class Fields, MaybeConst<MoveTogetherRequest::ClientMove> T>
void visit_arguments(Fields& fields, T& move) {
  fields.required("vm", move.vm);
  fields.required("client", move.client);
  fields.required("from", move.from);
  fields.required("to", move.to);
}

template <class Fields, MaybeConst<MoveTogetherRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("moves", request.moves);
}

template <class Fields, MaybeConst<ReleaseRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.optional("vm", request.vm);
}

template <class Fields, MaybeConst<ManageRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.optional("vm", request.vm);
}

template <class Fields, MaybeConst<RecordStartRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.optional("anonymize", request.anonymize);
  fields.optional("epochs", request.epochs);
}

template <class Fields, MaybeConst<RecordNextRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("recording", request.recording);
}

template <class Fields, MaybeConst<RecordStopRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("recording", request.recording);
}

template <class Fields, MaybeConst<WhatIfRequest::NewVm> T>
void visit_arguments(Fields& fields, T& vm) {
  fields.required("vcpus", vm.vcpus);
  fields.required("memory_bytes", vm.memory_bytes);
  fields.optional("load_pct", vm.load_pct);
  fields.optional("weight", vm.weight);
}

template <class Fields, MaybeConst<WhatIfRequest::OptionValue> T>
void visit_arguments(Fields& fields, T& option) {
  fields.required("name", option.name);
  fields.required("value", option.value);
}

template <class Fields, MaybeConst<WhatIfRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.optional("add", request.add);
  fields.optional("remove", request.remove);
  fields.optional("move", request.move);
  fields.optional("options", request.options);
}

template <class Fields, MaybeConst<RequestedSetting> T>
void visit_arguments(Fields& fields, T& setting) {
  fields.required("key", setting.key);
  fields.optional("value", setting.value);
}

template <class Fields, MaybeConst<AnnounceRequest::Device> T>
void visit_arguments(Fields& fields, T& device) {
  fields.required("address", device.address);
  fields.required("node", device.node);
}

template <class Fields, MaybeConst<AnnounceRequest::Interface> T>
void visit_arguments(Fields& fields, T& interface) {
  fields.required("name", interface.name);
  fields.required("node", interface.node);
}

template <class Fields, MaybeConst<AnnounceRequest::Disk> T>
void visit_arguments(Fields& fields, T& disk) {
  fields.required("name", disk.name);
  fields.required("node", disk.node);
}

template <class Fields, MaybeConst<AnnounceRequest::Cell> T>
void visit_arguments(Fields& fields, T& cell) {
  fields.required("vcpus", cell.vcpus);
  fields.required("memory_mib", cell.memory_mib);
  fields.optional("huge_page_kib", cell.huge_page_kib);
}

template <class Fields, MaybeConst<AnnounceRequest::Pages> T>
void visit_arguments(Fields& fields, T& pages) {
  fields.required("node", pages.node);
  fields.required("free", pages.free);
  fields.required("total", pages.total);
  fields.optional("page_kib", pages.page_kib);
}

template <class Fields, MaybeConst<AnnounceRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm", request.vm);
  fields.required("vm_uuid", request.vm_uuid);
  fields.required("vcpus", request.vcpus);
  fields.required("memory_mib", request.memory_mib);
  fields.optional("asks", request.asks);
  fields.optional("policy", request.policy);
  fields.optional("devices", request.devices);
  fields.optional("interfaces", request.interfaces);
  fields.optional("disks", request.disks);
  fields.optional("cells", request.cells);
  fields.optional("huge_page_kib", request.huge_page_kib);
  fields.optional("huge_pages", request.huge_pages);
}

template <class Fields, MaybeConst<WithdrawRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm_uuid", request.vm_uuid);
}

template <class Fields, MaybeConst<PolicyRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm", request.vm);
}

template <class Fields, MaybeConst<SetRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vm", request.vm);
  fields.required("settings", request.settings);
  fields.optional("persistent", request.persistent);
}

template <class Fields, MaybeConst<SuggestRequest> T>
void visit_arguments(Fields& fields, T& request) {
  fields.required("vcpus", request.vcpus);
  fields.optional("memory_mib", request.memory_mib);
}

}  // namespace vmnuma::balancer
