/* A program with a static runtime (stripped_runtime.c), stripped: it is given another one. */
int cudaGetDeviceCount(int *n);
int cudaDriverGetVersion(int *version);

int main(void)
{
  int n = 0, version = 0;
  return cudaGetDeviceCount(&n) || cudaDriverGetVersion(&version) || n != 1 || version < 13000;
}
