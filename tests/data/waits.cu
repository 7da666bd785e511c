// Waits until *flag is value, at the host's pleasure, then says so. tests/data/waits.sh compiles it.
extern "C" __global__ void waits(volatile int *flag, int value, int *out)
{
  while (*flag != value) __nanosleep(50);
  *out = value + 1;
}
