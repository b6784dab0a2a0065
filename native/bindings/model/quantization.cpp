#include "model/quantization.h"

#include "bindings/bindings.h"
#include "bindings/model/stored_arrays.h"

namespace labeltree {

namespace {

nb::tuple quantize_columns(const nb::dict& arrays, Array<int64_t> first_column, Array<int64_t> block_columns,
                           int64_t n_columns, int n_threads) {
  require(n_columns >= 0, "n_columns must be at least 0");
  std::vector<nb::object> owners;
  ColumnEntries entries;
  entries.block_entry_begin = stored_array<int64_t>(arrays, "block_entry_begin", owners);
  entries.first_column = span(first_column);
  entries.block_columns = span(block_columns);
  entries.column = stored_variant<uint8_t, uint16_t, uint32_t>(arrays, "column", owners);
  entries.weight = stored_array<float>(arrays, "weight", owners);
  entries.n_columns = n_columns;
  QuantizedWeights rounded;
  {
    nb::gil_scoped_release release;
    rounded = quantize(entries, n_threads);
  }
  return nb::make_tuple(to_numpy(std::move(rounded.weight)), to_numpy(std::move(rounded.scale)));
}

}  // namespace

void bind_quantization(nb::module_& m) {
  m.def("quantize", &quantize_columns, nb::arg("arrays"), nb::arg("first_column").noconvert(),
        nb::arg("block_columns").noconvert(), nb::arg("n_columns"), nb::arg("n_threads"),
        nb::sig("def quantize(arrays: dict, first_column: numpy.typing.NDArray[numpy.int64], block_columns: "
                "numpy.typing.NDArray[numpy.int64], n_columns: int, n_threads: int) -> tuple"),
        "The weights of blocks as int8, and the size of a step of each column, which is not finite if a "
        "weight of the column is not.");
}

}  // namespace labeltree
