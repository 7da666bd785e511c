// Numbers that look random and are the same everywhere.
#pragma once

struct Random {
  unsigned state;
  explicit Random(unsigned seed) : state(seed) {}
  unsigned next()
  {
    state = state * 1664525u + 1013904223u; // Numerical Recipes, "quick and dirty" generator
    return state >> 8;
  }
  float real() { return float(next() & 0xffff) / 65536.0f; } // 0 to 1, exact in 16 bits
};
