// The names of PyTorch's headers that kernels of ladders use, for hosts without PyTorch.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>

namespace c10 {
enum class ScalarType : int8_t { Half = 5, BFloat16 = 15 };
}

namespace torch {
using c10::ScalarType;
constexpr ScalarType kFloat16 = ScalarType::Half, kBFloat16 = ScalarType::BFloat16;
} // namespace torch
