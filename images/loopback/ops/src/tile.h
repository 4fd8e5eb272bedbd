// Small dense matrices in the type of computation, and how they are read from
// tensors. The loops run over the last index, so that compilers vectorise them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace loopback {

constexpr std::int64_t kTileRows = 32;  // queries of one tile
constexpr std::int64_t kTileCols = 64;  // keys of one tile

// The rows of one head inside a [batch, seq, heads, dim] tensor.
template <typename T>
struct HeadRows {
  T* first;
  std::int64_t step;  // elements from one row to the next

  HeadRows(T* tensor, std::int64_t batch, std::int64_t seq, std::int64_t heads, std::int64_t head,
           std::int64_t dim)
      : first(tensor + (batch * seq * heads + head) * dim), step(heads * dim) {}
  T* operator[](std::int64_t row) const { return first + row * step; }
};

template <typename A>
void Axpy(std::int64_t size, A factor, const A* x, A* y) {
  for (std::int64_t i = 0; i < size; ++i) y[i] += factor * x[i];
}

template <typename A>
A Dot(std::int64_t size, const A* x, const A* y) {
  A sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

// `count` rows from `begin`, each of `dim` elements, times `factor`.
template <typename A, typename T>
void LoadRows(const HeadRows<T>& rows, std::int64_t begin, std::int64_t count, std::int64_t dim,
              A factor, std::vector<A>* tile) {
  tile->resize(count * dim);
  for (std::int64_t r = 0; r < count; ++r) {
    const T* row = rows[begin + r];
    for (std::int64_t c = 0; c < dim; ++c) (*tile)[r * dim + c] = static_cast<A>(row[c]) * factor;
  }
}

// The same transposed: [dim][kTileCols], the missing columns zero.
template <typename A, typename T>
void LoadTransposed(const HeadRows<T>& rows, std::int64_t begin, std::int64_t count,
                    std::int64_t dim, std::vector<A>* tile) {
  tile->assign(dim * kTileCols, A{0});
  for (std::int64_t r = 0; r < count; ++r) {
    const T* row = rows[begin + r];
    for (std::int64_t c = 0; c < dim; ++c) (*tile)[c * kTileCols + r] = static_cast<A>(row[c]);
  }
}

// product[rows][kTileCols] = left[rows][dim] x right[dim][kTileCols].
template <typename A>
void Multiply(const std::vector<A>& left, const std::vector<A>& right, std::int64_t rows,
              std::int64_t dim, std::vector<A>* product) {
  product->assign(rows * kTileCols, A{0});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < dim; ++c) {
      Axpy(kTileCols, left[r * dim + c], &right[c * kTileCols], &(*product)[r * kTileCols]);
    }
  }
}

}  // namespace loopback
