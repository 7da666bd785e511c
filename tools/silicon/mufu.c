/* mufu: packs what a GPU's special function unit returned for the sample of kernels/mufu_sample, and
 * compares it with the simulator's model.
 *
 *   mufu pack SILICON MODEL OUT   SILICON and MODEL hold OP.bin (run --out); writes OUT/OP.delta and
 *                                 the table OUT/mufu.csv
 *   mufu unpack IN SILICON OUT    rebuilds OUT/OP.bin from IN/OP.delta and checks it against the hash in
 *                                 IN/mufu.csv; SILICON holds input.bin
 *
 * A .delta file has one byte per input: the distance of silicon's result from the correctly rounded
 * one, in units in the last place, as zigzag (0 0, 1 -1, 2 +1 …); 255 is followed by the four bytes of
 * the result itself. It compresses to a fraction of a byte per input, and does not depend on the model,
 * which will change.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BAD_INPUT = 2, ESCAPE = 255 };

#define QUIET_NAN 0x7fffffffu

static float float_of(uint32_t u)
{
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static uint32_t bits_of(float f)
{
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return isnan(f) ? QUIET_NAN : u;
}

static uint32_t high_word(double d)
{
  uint64_t u;
  memcpy(&u, &d, sizeof u);
  return isnan(d) ? QUIET_NAN : (uint32_t)(u >> 32);
}

static double double_of(uint32_t high)
{
  uint64_t u = (uint64_t)high << 32;
  double d;
  memcpy(&d, &u, sizeof d);
  return d;
}

static double flush(double x)
{
  return fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

static uint32_t rounded(double x)
{
  return bits_of((float)flush((double)(float)x));
}

/* x / (2 pi) as the compiler computes it in front of MUFU.SIN and COS: one product, towards zero. */
static double turns(double x)
{
  double p = x * (double)0.15915494f;
  float f = (float)p;

  if (isfinite(f) && fabs((double)f) > fabs(p)) f = nextafterf(f, 0.0f);
  return fmod((double)f, 1.0);
}

static const double two_pi = 6.283185307179586476925;

static uint32_t ref_rcp(uint32_t u) { return rounded(1.0 / flush((double)float_of(u))); }
static uint32_t ref_rsq(uint32_t u) { return rounded(1.0 / sqrt(flush((double)float_of(u)))); }
static uint32_t ref_sqrt(uint32_t u) { return rounded(sqrt(flush((double)float_of(u)))); }
static uint32_t ref_lg2(uint32_t u) { return rounded(log2(flush((double)float_of(u)))); }
static uint32_t ref_ex2(uint32_t u) { return rounded(exp2(flush((double)float_of(u)))); }
static uint32_t ref_sin(uint32_t u) { return rounded(sin(two_pi * turns((double)float_of(u)))); }
static uint32_t ref_cos(uint32_t u) { return rounded(cos(two_pi * turns((double)float_of(u)))); }
static uint32_t ref_tanh(uint32_t u) { return bits_of((float)tanh((double)float_of(u))); }
static uint32_t ref_rcp64h(uint32_t u) { return high_word(1.0 / double_of(u)); }
static uint32_t ref_rsq64h(uint32_t u) { return high_word(1.0 / sqrt(double_of(u))); }

static const struct op {
  const char *name; /* of the buffer in mufu_sample.launch */
  uint32_t (*ref)(uint32_t);
} ops[] = {
  {"rcp", ref_rcp}, {"rsq", ref_rsq}, {"root", ref_sqrt}, {"lg2", ref_lg2},
  {"ex2", ref_ex2}, {"sin", ref_sin}, {"cos", ref_cos},   {"tanh", ref_tanh},
  {"rcp64h", ref_rcp64h}, {"rsq64h", ref_rsq64h},
};
enum { N_OPS = sizeof ops / sizeof ops[0] };

static void *checked(void *p)
{
  if (p) return p;
  fprintf(stderr, "mufu: out of memory\n");
  exit(EXIT_BAD_INPUT);
}

static FILE *open_in(const char *dir, const char *name, const char *ext, const char *mode)
{
  char path[4096];

  snprintf(path, sizeof path, "%s/%s%s", dir, name, ext);
  FILE *f = fopen(path, mode);
  if (f) return f;
  perror(path);
  exit(EXIT_BAD_INPUT);
}

static uint32_t *read_words(const char *dir, const char *name, size_t *n)
{
  FILE *f = open_in(dir, name, ".bin", "rb");
  size_t cap = (size_t)1 << 20;
  uint32_t *w = NULL;

  *n = 0;
  do {
    cap *= 2;
    w = checked(realloc(w, cap * sizeof *w));
    *n += fread(w + *n, sizeof *w, cap - *n, f);
  } while (*n == cap);
  fclose(f);
  return w;
}

static uint32_t *read_exactly(const char *dir, const char *name, size_t n)
{
  size_t have;
  uint32_t *w = read_words(dir, name, &have);

  if (have == n) return w;
  fprintf(stderr, "mufu: %s/%s.bin: %zu results, expected %zu\n", dir, name, have, n);
  exit(EXIT_BAD_INPUT);
}

/* FNV-1a over the bytes. */
static uint64_t hash(const uint32_t *w, size_t n)
{
  const uint8_t *b = (const uint8_t *)w;
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (size_t i = 0; i < n * sizeof *w; i++) h = (h ^ b[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* Position on the line of floats, so that neighbours differ by one. */
static int64_t rank(uint32_t u)
{
  return u >> 31 ? -(int64_t)(u & 0x7fffffffu) : (int64_t)u;
}

struct distance {
  size_t differ;
  int64_t most;
};

static struct distance compare(const uint32_t *a, const uint32_t *b, size_t n)
{
  struct distance d = {0};

  for (size_t i = 0; i < n; i++) {
    int64_t ulps = llabs(rank(a[i]) - rank(b[i]));
    d.differ += a[i] != b[i];
    if (ulps > d.most && !isnan(float_of(a[i])) && !isnan(float_of(b[i]))) d.most = ulps;
  }
  return d;
}

static void put_delta(FILE *f, uint32_t got, uint32_t ref)
{
  int64_t d = rank(got) - rank(ref);
  int64_t zigzag = d > 0 ? 2 * d : -2 * d - (d < 0);

  /* +0 and -0 have the same rank. */
  if (zigzag < ESCAPE && (d != 0 || got == ref)) {
    putc((int)zigzag, f);
    return;
  }
  putc(ESCAPE, f);
  for (int i = 0; i < 4; i++) putc((int)(got >> 8 * i & 255), f);
}

static uint32_t get_delta(FILE *f, uint32_t ref)
{
  int c = getc(f);
  uint32_t got = 0;

  if (c == ESCAPE) {
    for (int i = 0; i < 4; i++) got |= (uint32_t)getc(f) << 8 * i;
    return got;
  }
  if (c == 0) return ref;
  int64_t r = rank(ref) + (c % 2 ? -(c + 1) / 2 : c / 2);
  return r < 0 ? (uint32_t)-r | 0x80000000u : (uint32_t)r;
}

static int pack(char **dir)
{
  FILE *csv = open_in(dir[2], "mufu", ".csv", "w");
  size_t n;
  uint32_t *in = read_words(dir[0], "input", &n);
  uint32_t *ref = checked(malloc(n * sizeof *ref + 1));

  fprintf(csv, "op,inputs,silicon_fnv1a64,model_fnv1a64,model_differs,model_most_ulps,"
               "rounded_differs,rounded_most_ulps\n");
  for (const struct op *o = ops; o < ops + N_OPS; o++) {
    uint32_t *got = read_exactly(dir[0], o->name, n), *model = read_exactly(dir[1], o->name, n);
    for (size_t i = 0; i < n; i++) ref[i] = o->ref(in[i]);
    FILE *f = open_in(dir[2], o->name, ".delta", "wb");
    for (size_t i = 0; i < n; i++) put_delta(f, got[i], ref[i]);
    if (fclose(f)) perror(o->name), exit(EXIT_BAD_INPUT);
    struct distance dm = compare(got, model, n), dr = compare(got, ref, n);
    fprintf(csv, "%s,%zu,%016" PRIx64 ",%016" PRIx64 ",%zu,%" PRId64 ",%zu,%" PRId64 "\n", o->name,
            n, hash(got, n), hash(model, n), dm.differ, dm.most, dr.differ, dr.most);
    free(got);
    free(model);
  }
  free(in);
  free(ref);
  return fclose(csv) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

static uint64_t wanted_hash(const char *dir, const char *op)
{
  FILE *csv = open_in(dir, "mufu", ".csv", "r");
  char line[512], name[32];
  uint64_t h, found = 0;

  while (fgets(line, sizeof line, csv))
    if (sscanf(line, "%31[^,],%*u,%" SCNx64, name, &h) == 2 && !strcmp(name, op)) found = h;
  fclose(csv);
  return found;
}

static int unpack(char **dir)
{
  size_t n;
  uint32_t *in = read_words(dir[1], "input", &n), *got = checked(malloc(n * sizeof *got + 1));
  int status = EXIT_SUCCESS;

  for (const struct op *o = ops; o < ops + N_OPS; o++) {
    FILE *f = open_in(dir[0], o->name, ".delta", "rb");
    for (size_t i = 0; i < n; i++) got[i] = get_delta(f, o->ref(in[i]));
    fclose(f);
    if (hash(got, n) != wanted_hash(dir[0], o->name)) {
      fprintf(stderr, "mufu: %s: the rebuilt results do not have the recorded hash (another C "
                      "library rounds differently?)\n", o->name);
      status = EXIT_FAILURE;
      continue;
    }
    f = open_in(dir[2], o->name, ".bin", "wb");
    if (fwrite(got, sizeof *got, n, f) != n || fclose(f)) perror(o->name), status = EXIT_FAILURE;
  }
  free(in);
  free(got);
  return status;
}

int main(int argc, char **argv)
{
  if (argc == 5 && !strcmp(argv[1], "pack")) return pack(argv + 2);
  if (argc == 5 && !strcmp(argv[1], "unpack")) return unpack(argv + 2);
  fprintf(stderr, "usage: mufu pack SILICON MODEL OUT\n       mufu unpack IN SILICON OUT\n");
  return EXIT_BAD_INPUT;
}
