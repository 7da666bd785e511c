/* A machine file: groups with values of every kind, ends of links of names that there are and are not; then the ways
 * through what came out. */
#include "base/bug.h"
#include "config/topology.h"
#include "draw.h"
#include "fuzz.h"

enum { MAX_LINKS = 6, MAX_ENDS = 8 };

static const char *source(struct draw *f)
{
  static const char *const sources[] = {"\"\"", "\"doc: x\"", "\"guess:\"", "1", "\"rumour: x\""};
  unsigned how = field_byte(f);
  return how < 5 ? sources[how] : "\"guess\"";
}

static void add_int(struct fuzz_text *t, struct draw *f, const char *key, unsigned usual)
{
  char n[40];
  unsigned how = field_byte(f);
  if (how == 1) return;
  if (how < 12) fuzz_add(t, "%s = (%s%s, %s);\n", key, field_numeral(f, n), how & 1 ? "L" : "", source(f));
  else fuzz_add(t, "%s = (%u, \"guess\");\n", key, usual + how % 3);
}

static void add_end(struct fuzz_text *t, struct draw *f)
{
  static const char *const nodes[] = {"gpu", "cpu", "sw", "plx", "", "x", "gpu-", ","};
  char n[40];
  unsigned which = field_byte(f);
  fuzz_add(t, "%s", nodes[which < 8 ? which : which % 3]);
  fuzz_add(t, "%u", which / 3 % 4);
  if (which % 5 == 0) fuzz_add(t, "-%u", which % 7);
  if (which % 61 == 60) fuzz_add(t, "-%s", field_numeral(f, n));
}

static void add_link(struct fuzz_text *t, struct draw *f, unsigned i)
{
  static const char *const kinds[] = {"pcie", "nvlink", "c2c", "socket", "usb"};
  static const char *const atomics[] = {"none", "pcie", "all", ""};
  static const char *const between[] = {" ", " ", " ", ";", "; ", ", ", ","};
  fuzz_add(t, "l%c = { kind = (\"%s\", %s); ends = (\"", 'a' + (int)i, kinds[field_pick(f, 5)], source(f));
  for (unsigned n = 2 + 2 * field_pick(f, MAX_ENDS / 2); n; n--) {
    add_end(t, f);
    fuzz_add(t, "%s", n == 1 ? "" : n % 2 ? "; " : between[field_pick(f, 7)]);
  }
  fuzz_add(t, "\", \"guess\");\n");
  add_int(t, f, "lanes", 1);
  add_int(t, f, "mbps", 1000);
  if (field_byte(f) & 1) add_int(t, f, "back_mbps", 1000);
  add_int(t, f, "latency_ns", 100);
  add_int(t, f, "packet_bytes", 128);
  add_int(t, f, "overhead_bytes", 0);
  add_int(t, f, "credits", 64);
  add_int(t, f, "reads", 64);
  fuzz_add(t, "peer = (%s, \"guess\"); atomics = (\"%s\", \"guess\"); };\n", field_byte(f) & 1 ? "true" : "false",
           atomics[field_pick(f, 4)]);
}

static void look(const struct machine_preset *m)
{
  struct arena a = {0};
  struct topology *t = topology_new(m, &a);
  unsigned ends = m->n_gpus + m->n_sockets;
  char text[NODE_NAME_MAX], label[16];
  for (unsigned i = 0; i < machine_nodes(m); i++) machine_node_name(m, i, text);
  for (unsigned from = 0; from < ends; from++)
    for (unsigned to = 0; to < ends; to++) {
      if (from == to || !topology_reaches(t, from, to)) continue;
      unsigned at = from;
      for (unsigned hops = 0; at != to; hops++) {
        BUG_ON(hops > MACHINE_MAX_NODES);
        at = topology_next(t, from, at, to, from * 77 + to).node;
      }
      BUG_ON(topology_rate(t, from, to) == UINT64_MAX || !topology_latency(t, from, to));
      topology_label(t, from, to, label);
    }
  arena_free(&a);
}

void fuzz_machine(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct fuzz_text t = {.n = 0};
  struct fuzz_file file;
  struct machine_preset m;
  struct err e = {""};
  fuzz_add(&t, "name = (\"m\", \"guess\");\ngpu = { preset = (\"%s\", \"guess\");\n",
           field_byte(&f) == 1 ? "rtx-3070, a100" : "rtx-3070");
  add_int(&t, &f, "count", 1);
  fuzz_add(&t, "};\nhost = {\n");
  add_int(&t, &f, "sockets", 1);
  add_int(&t, &f, "memory_mib", 1024);
  add_int(&t, &f, "memory_mbps", 1000);
  add_int(&t, &f, "memory_latency_ns", 100);
  fuzz_add(&t, "};\nswitch = { sw = {\n");
  add_int(&t, &f, "count", 1);
  add_int(&t, &f, "latency_ns", 100);
  fuzz_add(&t, "}; };\nlink = {\n");
  for (unsigned i = 0, n = field_pick(&f, MAX_LINKS); i < n; i++) add_link(&t, &f, i);
  fuzz_add(&t, "};\n");
  fuzz_file_open(&file, ".cfg", t.at, t.n);
  bool ok = machine_load(file.path, WS_SOURCE_DIR "/presets", &m, &e);
  fuzz_file_close(&file);
  BUG_ON(!ok && e.msg[0] == '\0');
  if (!ok) return;
  look(&m);
  machine_preset_free(&m);
}
