/* libFuzzer's entry; FUZZ_TARGET is set for each program. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  FUZZ_TARGET(data, size);
  return 0;
}
