#include "formats/xmlc_reader.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "core/parallel_for.h"
#include "formats/decimal_number.h"

namespace labeltree {
namespace {

constexpr int64_t kMostColumns = std::numeric_limits<int32_t>::max();

struct Header {
  int64_t n_rows;
  int64_t n_features;
  int64_t n_labels;
};

// One number of a header; -1 when it is larger than any size can be.
int64_t parse_size(std::string_view digits) {
  int64_t size = 0;
  for (const char c : digits) {
    size = size * 10 + (c - '0');
    if (size > int64_t{1} << 53) return -1;
  }
  return size;
}

// The header that `line` is, or nothing when it is not three numbers between blanks.
std::optional<Header> parse_header(std::string_view line) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end == i || (end < line.size() && !is_blank(line[end]))) return std::nullopt;
    sizes.push_back(parse_size(line.substr(i, end - i)));
    i = end;
  }
  if (sizes.size() != 3) return std::nullopt;
  const auto fits = [](int64_t size, int64_t most) { return 0 <= size && size <= most; };
  if (!fits(sizes[0], int64_t{1} << 53) || !fits(sizes[1], kMostColumns) || !fits(sizes[2], kMostColumns)) {
    throw TextFormatError(1, "expected a header of at most " + std::to_string(kMostColumns) +
                                 " features and labels, got " + quoted(line));
  }
  return Header{sizes[0], sizes[1], sizes[2]};
}

// Takes the header off the front of `text`.
std::optional<Header> take_header(std::string_view& text, HeaderRule rule) {
  if (rule == HeaderRule::kAbsent) return std::nullopt;
  const size_t newline = text.find('\n');
  std::string_view line = text.substr(0, newline);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::optional<Header> header = parse_header(line);
  if (header) {
    text.remove_prefix(newline == text.npos ? text.size() : newline + 1);
  } else if (rule == HeaderRule::kRequired) {
    throw TextFormatError(1,
                          "expected a header of three numbers (rows, features, labels), got " + quoted(line));
  }
  return header;
}

// Which ids may occur: no more than the header says, no more than the caller says.
IdRange id_range(std::string noun, int64_t first, std::optional<int64_t> header_size,
                 std::optional<int64_t> given_size) {
  const std::string plural = noun + "s";
  IdRange range{std::move(noun), first, kMostColumns, "int32 columns allow no more"};
  if (given_size && *given_size <= range.size) {
    range.size = *given_size;
    range.reason = "n_" + plural + " is " + std::to_string(range.size);
  }
  if (header_size && *header_size <= range.size) {
    range.size = *header_size;
    range.reason = "the header says " + std::to_string(range.size) + " " + plural;
  }
  return range;
}

struct Chunk {
  std::string_view text;
  ParsedRows rows;
  std::optional<TextFormatError> error;
};

// Whole lines, about `chunk_bytes` of them per chunk. A last line without a newline is given one in
// `last_line`: behind a newline no digit follows, so that the parser need not look for the end of the text.
std::vector<Chunk> split_into_chunks(std::string_view text, int64_t chunk_bytes, std::string& last_line) {
  std::vector<Chunk> chunks;
  while (!text.empty()) {
    const size_t newline = text.find('\n', static_cast<size_t>(chunk_bytes) - 1);
    const size_t size = newline != text.npos ? newline + 1 : text.rfind('\n') + 1;
    if (size == 0) break;
    chunks.push_back({text.substr(0, size), {}, {}});
    text.remove_prefix(size);
  }
  if (!text.empty()) {
    last_line.assign(text).push_back('\n');
    chunks.push_back({last_line, {}, {}});
  }
  return chunks;
}

void parse_chunks(std::vector<Chunk>& chunks, const RowFormat& format, int n_threads) {
  const auto n_chunks = static_cast<int64_t>(chunks.size());
  std::atomic<int64_t> first_bad{n_chunks};
  parallel_for(n_threads, n_chunks, [&](int64_t i, int) {
    if (i > first_bad.load(std::memory_order_relaxed)) return;
    try {
      chunks[i].rows = parse_rows(chunks[i].text, format);
    } catch (const TextFormatError& error) {
      chunks[i].error = error;
      int64_t bad = first_bad.load(std::memory_order_relaxed);
      while (i < bad && !first_bad.compare_exchange_weak(bad, i, std::memory_order_relaxed)) {
      }
    }
  });
}

void throw_first_error(const std::vector<Chunk>& chunks, int64_t lines_before) {
  for (const Chunk& chunk : chunks) {
    if (chunk.error) throw TextFormatError(lines_before + chunk.error->line, chunk.error->what());
    lines_before += chunk.rows.n_lines;
  }
}

// Where the parts of a chunk go in the whole.
struct ChunkPlace {
  int64_t row = 0;
  int64_t feature = 0;
  int64_t label = 0;
};

void place_ends(const std::vector<int64_t>& ends, int64_t offset, int64_t* indptr) {
  std::transform(ends.begin(), ends.end(), indptr + 1, [=](int64_t end) { return offset + end; });
}

LabelledRows join_chunks(std::vector<Chunk>& chunks, const std::vector<ChunkPlace>& places, int n_threads) {
  LabelledRows result;
  const ChunkPlace& total = places.back();
  result.feature_indptr = OwnedArray<int64_t>(total.row + 1);
  result.feature_ids = OwnedArray<int32_t>(total.feature);
  result.values = OwnedArray<float>(total.feature);
  result.label_indptr = OwnedArray<int64_t>(total.row + 1);
  result.label_ids = OwnedArray<int32_t>(total.label);
  result.feature_indptr.items[0] = result.label_indptr.items[0] = 0;
  parallel_for(n_threads, static_cast<int64_t>(chunks.size()), [&](int64_t i, int) {
    const ParsedRows rows = std::move(chunks[i].rows);  // freed as we go
    const ChunkPlace& place = places[i];
    place_ends(rows.feature_ends, place.feature, &result.feature_indptr.items[place.row]);
    place_ends(rows.label_ends, place.label, &result.label_indptr.items[place.row]);
    std::copy(rows.feature_ids.begin(), rows.feature_ids.end(), &result.feature_ids.items[place.feature]);
    std::copy(rows.values.begin(), rows.values.end(), &result.values.items[place.feature]);
    std::copy(rows.label_ids.begin(), rows.label_ids.end(), &result.label_ids.items[place.label]);
  });
  return result;
}

}  // namespace

LabelledRows read_text_format(std::string_view text, const TextFormat& format, int n_threads) {
  const std::optional<Header> header = take_header(text, format.header);
  const auto header_features = header ? std::optional(header->n_features) : std::nullopt;
  const auto header_labels = header ? std::optional(header->n_labels) : std::nullopt;
  const RowFormat row_format{id_range("feature", format.first_feature, header_features, format.n_features),
                             id_range("label", format.first_label, header_labels, format.n_labels),
                             format.comments};

  std::string last_line;
  std::vector<Chunk> chunks = split_into_chunks(text, format.chunk_bytes, last_line);
  parse_chunks(chunks, row_format, n_threads);
  throw_first_error(chunks, header ? 1 : 0);

  int64_t n_features = 0;
  int64_t n_labels = 0;
  std::vector<ChunkPlace> places{ChunkPlace{}};
  for (const Chunk& chunk : chunks) {
    const ChunkPlace& place = places.back();
    places.push_back({place.row + static_cast<int64_t>(chunk.rows.feature_ends.size()),
                      place.feature + static_cast<int64_t>(chunk.rows.feature_ids.size()),
                      place.label + static_cast<int64_t>(chunk.rows.label_ids.size())});
    n_features = std::max(n_features, chunk.rows.n_features);
    n_labels = std::max(n_labels, chunk.rows.n_labels);
  }
  const int64_t n_rows = places.back().row;
  if (header && header->n_rows != n_rows) {
    throw TextFormatError(1, "expected " + std::to_string(header->n_rows) +
                                 " rows, as the header says, got " + std::to_string(n_rows) +
                                 "; a blank line is a row too");
  }
  if (!header && n_rows == 0) throw TextFormatError(1, "expected at least one row, got an empty file");

  LabelledRows result = join_chunks(chunks, places, n_threads);
  result.n_features = format.n_features.value_or(header_features.value_or(n_features));
  result.n_labels = format.n_labels.value_or(header_labels.value_or(n_labels));
  return result;
}

}  // namespace labeltree
