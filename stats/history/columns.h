// SPDX-License-Identifier: Apache-2.0
/// The columns of the tables of samples, each listed once for writing, averaging and reading.
/// Internal to stats/history. The tables themselves are created in schema.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <SQLiteCpp/Statement.h>

#include "placement/model/vm_figures.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// Memory is stored in KiB, rounded down; the absence of a node is stored as NULL.
template <class Unit>
[[nodiscard]] constexpr std::optional<std::int64_t> to_column(Amount<Unit> amount) {
  return amount.value;
}
[[nodiscard]] constexpr std::optional<std::int64_t> to_column(Bytes bytes) {
  return bytes.value / kKiB.value;
}
[[nodiscard]] constexpr std::optional<std::int64_t> to_column(std::int32_t number) {
  return number;
}
[[nodiscard]] constexpr std::optional<std::int64_t> to_column(NodeId node) {
  return node.value < 0 ? std::nullopt : std::optional(std::int64_t{node.value});
}
template <class T>
[[nodiscard]] constexpr std::optional<std::int64_t> to_column(const std::optional<T>& value) {
  return value ? to_column(*value) : std::nullopt;
}

template <class Unit>
constexpr void from_column(Amount<Unit>& amount, std::int64_t value) {
  amount.value = value;
}
constexpr void from_column(Bytes& bytes, std::int64_t kib) {
  bytes = kKiB * kib;
}
constexpr void from_column(std::int32_t& number, std::int64_t value) {
  number = static_cast<std::int32_t>(value);
}
constexpr void from_column(NodeId& node, std::int64_t value) {
  node.value = static_cast<std::int32_t>(value);
}
template <class T>
constexpr void from_column(std::optional<T>& optional, std::int64_t value) {
  from_column(optional.emplace(), value);
}

template <class Row>
struct Column {
  std::string_view name;
  std::optional<std::int64_t> (*get)(const Row&) = nullptr;  ///< nothing is stored as NULL
  void (*set)(Row&, std::int64_t) = nullptr;                 ///< not called for NULL
  bool latest = false;  ///< an average takes the value of the last row
};

template <class Row, auto kMember>
constexpr Column<Row> column(std::string_view name) {
  return {name, [](const Row& row) { return to_column(row.*kMember); },
          [](Row& row, std::int64_t value) { from_column(row.*kMember, value); }};
}
template <Bytes MemorySplit::*kMember>
constexpr Column<ClientSampleRow> memory_column(std::string_view name) {
  return {name,
          [](const ClientSampleRow& row) {
            return row.memory ? to_column((*row.memory).*kMember) : std::nullopt;
          },
          [](ClientSampleRow& row, std::int64_t value) {
            row.memory = row.memory.value_or(MemorySplit{});
            from_column((*row.memory).*kMember, value);
          }};
}
template <std::size_t... kIndex>
constexpr auto figure_columns(std::index_sequence<kIndex...> /*all*/) {
  return std::array{Column<VmSampleRow>{
      kVmFigures[kIndex].name,
      [](const VmSampleRow& row) { return to_column(row.figures.*kVmFigures[kIndex].value); },
      [](VmSampleRow& row, std::int64_t value) {
        from_column(row.figures.*kVmFigures[kIndex].value, value);
      }}...};
}

/// A table has `span`, `time_ms`, the rest of its key (`key`), `epochs`, `epoch_us`, and `columns`.
template <class Row>
struct SampleTable;

template <>
struct SampleTable<NodeSampleRow> {
  static constexpr std::string_view kName = "node_sample";
  static constexpr std::string_view kKey = "node";
  using Row = NodeSampleRow;
  static constexpr std::array kColumns{column<Row, &Row::used>("used_us"),
                                       column<Row, &Row::non_vm>("non_vm_us"),
                                       column<Row, &Row::capacity>("capacity_us"),
                                       column<Row, &Row::demand>("demand_us"),
                                       column<Row, &Row::entitled>("entitled_us"),
                                       column<Row, &Row::owed>("owed_us"),
                                       column<Row, &Row::load_average>("load_permille"),
                                       column<Row, &Row::vcpus>("vcpus"),
                                       column<Row, &Row::free>("free_kib"),
                                       column<Row, &Row::total>("total_kib"),
                                       column<Row, &Row::threads>("threads_us")};
};

template <>
struct SampleTable<ClientSampleRow> {
  static constexpr std::string_view kName = "client_sample";
  static constexpr std::string_view kKey = "vm, client";
  using Row = ClientSampleRow;
  static constexpr std::array kColumns{[] {
                                         Column<Row> home = column<Row, &Row::home>("home");
                                         home.latest = true;
                                         return home;
                                       }(),
                                       column<Row, &Row::vcpus>("vcpus"),
                                       column<Row, &Row::used>("used_us"),
                                       column<Row, &Row::ready>("ready_us"),
                                       column<Row, &Row::demand>("demand_us"),
                                       column<Row, &Row::entitled>("entitled_us"),
                                       column<Row, &Row::owed>("owed_us"),
                                       memory_column<&MemorySplit::local>("local_kib"),
                                       memory_column<&MemorySplit::remote>("remote_kib")};
};

template <>
struct SampleTable<VmSampleRow> {
  static constexpr std::string_view kName = "vm_sample";
  static constexpr std::string_view kKey = "vm";
  static constexpr auto kColumns = figure_columns(std::make_index_sequence<kVmFigures.size()>());
};

/// Converts each column to text with `each` and joins the texts with ", ".
template <class Row, class Each>
[[nodiscard]] std::string column_list(const Each& each) {
  std::string list;
  for (const Column<Row>& column : SampleTable<Row>::kColumns) {
    list += list.empty() ? "" : ", ";
    list += each(column);
  }
  return list;
}
template <class Row>
[[nodiscard]] std::string column_names() {
  return column_list<Row>([](const Column<Row>& column) { return std::string(column.name); });
}

/// Reads a row's columns, the first of which is the query's column `first`.
template <class Row>
void read_columns(SQLite::Statement& select, int first, Row& row) {
  for (const Column<Row>& column : SampleTable<Row>::kColumns) {
    if (!select.isColumnNull(first)) {
      column.set(row, select.getColumn(first).getInt64());
    }
    ++first;
  }
}

}  // namespace vmnuma::stats
