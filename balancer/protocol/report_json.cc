// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/report_json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;
using stats::Cell;
using stats::Report;

/// More than any table has; limits the work, because each row is searched for each column.
constexpr std::size_t kMostColumns = 256;

void write_cells(Json& object, const std::vector<std::string>& columns,
                 const std::vector<Cell>& cells) {
  VMNUMA_CHECK(columns.size() == cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::visit(
        [&]<class Value>(const Value& value) {
          if constexpr (std::is_same_v<Value, stats::NoValue>) {
            object[columns[i]] = nullptr;
          } else {
            object[columns[i]] = value;
          }
        },
        cells[i]);
  }
}

std::optional<Cell> cell_of(const Json& json) {
  if (json.is_null()) {
    return Cell(stats::NoValue{});
  }
  if (json.is_string()) {
    return Cell(json.get<std::string>());
  }
  const std::optional<std::int64_t> number = text::integer_of(json);
  return number ? std::optional(Cell(*number)) : std::nullopt;
}

/// The values of `columns` in a row's object, or nothing if one is missing or invalid.
std::optional<std::vector<Cell>> read_cells(const Json& object,
                                            const std::vector<std::string>& columns) {
  std::vector<Cell> cells;
  for (const std::string& column : columns) {
    const auto found = object.find(column);
    auto cell = found == object.end() ? std::nullopt : cell_of(*found);
    if (!cell) {
      return std::nullopt;
    }
    cells.push_back(std::move(*cell));
  }
  return cells;
}

tl::unexpected<Error> corrupt(std::string message) {
  return failure(ErrorCode::kCorrupt, std::move(message));
}

bool read_head(const Json& json, Report& report) {
  const auto type = json.find("type");
  const auto columns = json.find("columns");
  if (type == json.end() || !type->is_string() || columns == json.end() || !columns->is_array() ||
      columns->size() > kMostColumns) {
    return false;
  }
  report.type = type->get<std::string>();
  for (const Json& column : *columns) {
    if (!column.is_string()) {
      return false;
    }
    report.columns.push_back(column.get<std::string>());
  }
  return true;
}

}  // namespace

Json json_of_report(const Report& report) {
  Json json;
  json["type"] = report.type;
  json["columns"] = report.columns;
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    Json row = Json::object();
    write_cells(row, report.columns, report.rows[i]);
    if (i < report.extra_cells.size()) {
      write_cells(row, report.extra_columns, report.extra_cells[i]);
    }
    json["rows"].push_back(std::move(row));
  }
  return json;
}

Result<Report> report_of_json(const Json& json) {
  Report report;
  if (!json.is_object() || !read_head(json, report)) {
    return corrupt("it is not a table");
  }
  const auto rows = json.find("rows");
  if (rows == json.end() || !rows->is_array()) {
    return corrupt("the table has no rows");
  }
  for (const Json& row : *rows) {
    if (!row.is_object()) {
      return corrupt("a row of the table is not an object");
    }
    if (report.rows.empty()) {
      for (const auto& [name, value] : row.items()) {
        if (std::ranges::find(report.columns, name) == report.columns.end()) {
          report.extra_columns.push_back(name);
        }
      }
    }
    auto cells = read_cells(row, report.columns);
    auto extra = read_cells(row, report.extra_columns);
    if (!cells || !extra) {
      return corrupt("a row of the table lacks a value");
    }
    report.rows.push_back(std::move(*cells));
    if (!report.extra_columns.empty()) {
      report.extra_cells.push_back(std::move(*extra));
    }
  }
  return report;
}

}  // namespace vmnuma::balancer
