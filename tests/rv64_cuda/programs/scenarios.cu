// Four small programs in which CPU and GPU work on the same data: "hello" (a text that either side completes), "backprop" (a network of two
// layers: the CPU prepares and takes over sums, the GPU multiplies and adjusts), "bh" (bodies in a plane, a tree that the CPU builds in each
// step and the GPU walks) and "memcpy_load" (words that are copied, then read one behind the other, by lines). With "copies" data move by
// cudaMemcpy, else both sides use the memory that malloc gave. Results are those of the CPU alone.
//
//   scenarios NAME [copies]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static bool copies;
static unsigned wrong;
static double stop; // ns: the work is done, what follows compares

static void check(cudaError_t e)
{
  if (e == cudaSuccess) return;
  printf("%s\n", cudaGetErrorString(e));
  exit(1);
}

// An array of both sides: one memory, or one for each.
template <class T> struct shared {
  T *cpu, *gpu;
  size_t bytes;
  explicit shared(size_t n) : bytes(n * sizeof(T))
  {
    cpu = gpu = (T *)calloc(n, sizeof(T));
    if (copies) check(cudaMalloc(&gpu, bytes));
  }
  void to_gpu() { if (copies) check(cudaMemcpy(gpu, cpu, bytes, cudaMemcpyHostToDevice)); }
  void to_cpu()
  {
    if (copies) check(cudaMemcpy(cpu, gpu, bytes, cudaMemcpyDeviceToHost));
    else check(cudaDeviceSynchronize());
  }
};

static double now()
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

// --- hello -----------------------------------------------------------------------------------------

__global__ void greet(char *text)
{
  const unsigned i = threadIdx.x;
  text[i] ^= 0x55;
}

static void hello()
{
  static const char expected[] = "Hello from both sides of the chip";
  shared<char> text(sizeof expected);
  for (unsigned i = 0; i < sizeof expected; i++) text.cpu[i] = expected[i] ^ 0x55;
  text.to_gpu();
  greet<<<1, sizeof expected>>>(text.gpu);
  text.to_cpu();
  stop = now();
  wrong += memcmp(text.cpu, expected, sizeof expected) != 0;
  printf("%s\n", text.cpu);
}

// --- backprop --------------------------------------------------------------------------------------

enum { INPUTS = 1024, HIDDEN = 16, ROUNDS = 3 };

// A CTA for 16 inputs: products, and sums over its inputs.
__global__ void forward(const float *in, const float *w, float *part)
{
  __shared__ float s[16][HIDDEN];
  const unsigned x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * 16 + y;
  s[y][x] = in[i] * w[i * HIDDEN + x];
  for (unsigned step = 1; step < 16; step *= 2) {
    __syncthreads();
    if (y % (2 * step) == 0) s[y][x] += s[y + step][x];
  }
  __syncthreads();
  if (y == 0) part[blockIdx.x * HIDDEN + x] = s[0][x];
}

__global__ void adjust(const float *in, const float *delta, float *w)
{
  const unsigned i = blockIdx.x * 16 + threadIdx.y, x = threadIdx.x;
  w[i * HIDDEN + x] += 0.25f * delta[x] * in[i];
}

// The same on the CPU, sums in the same order.
static void forward_cpu(const float *in, const float *w, float *part)
{
  for (unsigned b = 0; b < INPUTS / 16; b++)
    for (unsigned x = 0; x < HIDDEN; x++) {
      float s[16];
      for (unsigned y = 0; y < 16; y++) s[y] = in[b * 16 + y] * w[(b * 16 + y) * HIDDEN + x];
      for (unsigned step = 1; step < 16; step *= 2)
        for (unsigned y = 0; y + step < 16; y += 2 * step) s[y] += s[y + step];
      part[b * HIDDEN + x] = s[0];
    }
}

// What of the sums is too much: the CPU's part of a round.
static void errors(const float *part, float *delta)
{
  for (unsigned x = 0; x < HIDDEN; x++) {
    float sum = 0;
    for (unsigned b = 0; b < INPUTS / 16; b++) sum += part[b * HIDDEN + x];
    const float out = 1 / (1 + fabsf(sum));
    delta[x] = (0.125f * x - out) * out;
  }
}

static void backprop()
{
  shared<float> in(INPUTS), w(INPUTS * HIDDEN), part(INPUTS / 16 * HIDDEN), delta(HIDDEN);
  static float w_cpu[INPUTS * HIDDEN], part_cpu[INPUTS / 16 * HIDDEN], delta_cpu[HIDDEN];
  for (unsigned i = 0; i < INPUTS; i++) in.cpu[i] = (float)(i * 37 % 101) / 101;
  for (unsigned i = 0; i < INPUTS * HIDDEN; i++) w_cpu[i] = w.cpu[i] = (float)(i * 53 % 197) / 197 - 0.5f;
  in.to_gpu();
  w.to_gpu();
  for (unsigned round = 0; round < ROUNDS; round++) {
    forward<<<INPUTS / 16, dim3(HIDDEN, 16)>>>(in.gpu, w.gpu, part.gpu);
    part.to_cpu();
    errors(part.cpu, delta.cpu);
    delta.to_gpu();
    adjust<<<INPUTS / 16, dim3(HIDDEN, 16)>>>(in.gpu, delta.gpu, w.gpu);
  }
  w.to_cpu();
  stop = now();
  for (unsigned round = 0; round < ROUNDS; round++) {
    forward_cpu(in.cpu, w_cpu, part_cpu);
    errors(part_cpu, delta_cpu);
    for (unsigned i = 0; i < INPUTS; i++)
      for (unsigned x = 0; x < HIDDEN; x++)
        w_cpu[i * HIDDEN + x] = fmaf(0.25f * delta_cpu[x], in.cpu[i], w_cpu[i * HIDDEN + x]);
  }
  for (unsigned i = 0; i < INPUTS * HIDDEN; i++) wrong += !(fabsf(w.cpu[i] - w_cpu[i]) <= 1e-5f * fabsf(w_cpu[i]) + 1e-6f);
  printf("backprop: %u weights, %u wrong\n", INPUTS * HIDDEN, wrong);
}

// --- bh --------------------------------------------------------------------------------------------

enum { BODIES = 256, NODES = 1024, STEPS = 2, LEAF = 1 << 30, NONE = -1 };

struct node {
  float x, y, mass, width; // its centre of mass; of its square
  int child[4];            // a node, a body + LEAF, or NONE
};

struct body {
  float x, y, vx, vy;
};

__host__ __device__ static void pull(float dx, float dy, float mass, float *ax, float *ay)
{
  const float d2 = dx * dx + dy * dy + 0.01f, f = mass / (d2 * sqrtf(d2));
  *ax += dx * f;
  *ay += dy * f;
}

__host__ __device__ static void force(const body *b, const node *n, unsigned i, float *ax, float *ay)
{
  int stack[64], top = 0;
  stack[top++] = 0;
  while (top) {
    const int c = stack[--top];
    if (c >= LEAF) {
      if (c - LEAF != (int)i) pull(b[c - LEAF].x - b[i].x, b[c - LEAF].y - b[i].y, 1, ax, ay);
      continue;
    }
    const float dx = n[c].x - b[i].x, dy = n[c].y - b[i].y;
    if (n[c].width * n[c].width < 0.25f * (dx * dx + dy * dy)) pull(dx, dy, n[c].mass, ax, ay);
    else
      for (int k = 0; k < 4; k++)
        if (n[c].child[k] != NONE && top < 64) stack[top++] = n[c].child[k];
  }
}

__global__ void walk_tree(const body *b, const node *n, float *a)
{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float ax = 0, ay = 0;
  force(b, n, i, &ax, &ay);
  a[2 * i] = ax;
  a[2 * i + 1] = ay;
}

static int new_node(node *n, int *used, float width)
{
  if (*used == NODES) exit(2);
  n[*used] = {0, 0, 0, width, {NONE, NONE, NONE, NONE}};
  return (*used)++;
}

static void insert(const body *b, node *n, int *used, int i)
{
  int at = 0;
  float cx = 0, cy = 0, width = n[0].width;
  for (;;) {
    const int k = (b[i].x >= cx) + 2 * (b[i].y >= cy), c = n[at].child[k];
    n[at].x += b[i].x;
    n[at].y += b[i].y;
    n[at].mass += 1;
    if (c == NONE) {
      n[at].child[k] = LEAF + i;
      return;
    }
    width /= 2;
    cx += (k & 1 ? width : -width) / 2;
    cy += (k & 2 ? width : -width) / 2;
    if (c < LEAF) at = c;
    else { // its place becomes a node, which gets the body that was there
      const int fresh = new_node(n, used, width), other = c - LEAF;
      n[at].child[k] = fresh;
      n[fresh].child[(b[other].x >= cx) + 2 * (b[other].y >= cy)] = c;
      n[fresh].x = b[other].x;
      n[fresh].y = b[other].y;
      n[fresh].mass = 1;
      at = fresh;
    }
  }
}

static void build(const body *b, node *n)
{
  int used = 0;
  new_node(n, &used, 64);
  for (int i = 0; i < BODIES; i++) insert(b, n, &used, i);
  for (int i = 0; i < used; i++) n[i].x /= n[i].mass, n[i].y /= n[i].mass;
}

static void move(body *b, const float *a)
{
  for (unsigned i = 0; i < BODIES; i++) {
    b[i].vx += a[2 * i] * 0.01f;
    b[i].vy += a[2 * i + 1] * 0.01f;
    b[i].x += b[i].vx * 0.01f;
    b[i].y += b[i].vy * 0.01f;
  }
}

static void bh()
{
  shared<body> b(BODIES);
  shared<node> n(NODES);
  shared<float> a(2 * BODIES);
  static float a_cpu[2 * BODIES];
  for (unsigned i = 0; i < BODIES; i++) b.cpu[i] = {(float)(i * 61 % 257) / 8 - 16, (float)(i * 97 % 263) / 8 - 16, 0, 0};
  for (unsigned step = 0; step < STEPS; step++) {
    build(b.cpu, n.cpu);
    b.to_gpu();
    n.to_gpu();
    walk_tree<<<BODIES / 64, 64>>>(b.gpu, n.gpu, a.gpu);
    for (unsigned i = 0; i < BODIES; i++) { // meanwhile
      a_cpu[2 * i] = a_cpu[2 * i + 1] = 0;
      if (i % 8 == 0) force(b.cpu, n.cpu, i, &a_cpu[2 * i], &a_cpu[2 * i + 1]);
    }
    a.to_cpu();
    for (unsigned i = 0; i < 2 * BODIES; i++)
      if (i / 2 % 8 == 0) wrong += !(fabsf(a.cpu[i] - a_cpu[i]) <= 1e-4f * fabsf(a_cpu[i]) + 1e-5f);
    move(b.cpu, a.cpu);
  }
  stop = now();
  printf("bh: %u bodies, %u wrong\n", BODIES, wrong);
}

// --- memcpy_load -----------------------------------------------------------------------------------

enum { WORDS = 8192, LINE_WORDS = 32 };

__global__ void load(const unsigned *a, unsigned *sum)
{
  unsigned s = 0;
  for (unsigned i = threadIdx.x * LINE_WORDS; i < WORDS; i += blockDim.x * LINE_WORDS) s += a[i];
  atomicAdd(sum, s);
}

static void memcpy_load()
{
  shared<unsigned> a(WORDS), sum(1);
  unsigned *second, expected = 0;
  check(cudaMalloc(&second, WORDS * sizeof *second));
  for (unsigned i = 0; i < WORDS; i++) a.cpu[i] = i * 2654435761u;
  for (unsigned i = 0; i < WORDS; i += LINE_WORDS) expected += 2 * a.cpu[i];
  a.to_gpu();
  sum.to_gpu();
  load<<<1, 64>>>(a.gpu, sum.gpu);
  check(cudaMemcpy(second, a.gpu, WORDS * sizeof *second, cudaMemcpyDeviceToDevice));
  load<<<1, 64>>>(second, sum.gpu);
  sum.to_cpu();
  stop = now();
  wrong += sum.cpu[0] != expected;
  printf("memcpy_load: %s\n", wrong ? "wrong" : "right");
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)();
  } all[] = {{"hello", hello}, {"backprop", backprop}, {"bh", bh}, {"memcpy_load", memcpy_load}};
  copies = argc > 2 && !strcmp(argv[2], "copies");
  bool found = false;
  check(cudaFree(NULL)); // the device is up
  const double start = now();
  for (const auto &s : all)
    if (argc > 1 && !strcmp(s.name, argv[1])) s.run(), found = true;
  fprintf(stderr, "time %.0f ns\n", stop - start);
  puts(found && !wrong ? "PASS" : "FAIL");
  return !found || wrong;
}
