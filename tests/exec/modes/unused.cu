// Has GPU code, and a run that makes no call. argv[1] = launch: one kernel.
#include <cstring>
__global__ void nothing() {}
int main(int argc, char **argv)
{
  if (argc < 2 || strcmp(argv[1], "launch") != 0) return 0;
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
