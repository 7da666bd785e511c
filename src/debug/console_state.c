/* Commands that look at the launch: what is resident, and the focus. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "debug/console_commands.h"
#include "debug/source_value.h"
#include "debug/source_variable.h"
#include "func/sass/inspect.h"
#include "func/sass/step_observer.h"
#include "host/positions.h"
#include "isa/hazard_role.h"

static bool has_focus(const struct console *c, struct err *e)
{
  return c->d->target.slot[c->d->focus.slot] ? true : err_set(e, "the launch has ended; go back to look at a lane");
}

/* ---- info ---- */

static bool info_launch(struct console *c, char *args, struct err *e)
{
  const struct debug_target *t = &c->d->target;
  const struct module_kernel *k = c->d->kernel;
  (void)args, (void)e;
  fprintf(c->out, "launch %" PRIu64 ": %s of %s, sm_%u, entry 0x%" PRIx64 "\n", c->d->number, k->name,
          module_name(c->d->map.module), module_sm(c->d->map.module), k->entry_pc);
  fprintf(c->out,
          "grid (%u,%u,%u), block (%u,%u,%u), %u registers, %u bytes of shared and %" PRIu64 " of local memory\n",
          t->source->grid[0], t->source->grid[1], t->source->grid[2], t->source->block[0], t->source->block[1],
          t->source->block[2], t->source->regs_per_thread, t->source->shared_bytes, t->source->local_bytes);
  fprintf(c->out, "position %" PRIu64 ", %" PRIu64 " of %" PRIu64 " CTAs have started; going back is %s\n", t->position,
          t->next_cta, t->source->n_ctas, t->start ? "possible" : t->why_not.msg);
  return true;
}

static bool info_ctas(struct console *c, char *args, struct err *e)
{
  const struct debug_target *t = &c->d->target;
  (void)args, (void)e;
  for (unsigned i = 0; i < t->n_slots; i++) {
    const struct step_cta *cta = t->slot[i];
    if (!cta) continue;
    const struct lane_view v = {&c->d->target, i, 0, 0};
    const struct view_place at = view_place_of(&v);
    fprintf(c->out, "%s CTA %" PRIu64 " (%u,%u,%u): %u of %u warps left\n", i == c->d->focus.slot ? "*" : " ", cta->id,
            at.cta[0], at.cta[1], at.cta[2], cta->warps_left, cta->n_warps);
  }
  return true;
}

static void show_path(struct console *c, const struct step_cta *cta, unsigned warp, unsigned i)
{
  const struct step_path *p = &cta->warp[warp]->paths.p[i];
  struct source_frame frame[SOURCE_FRAMES];
  char where[200], line[300];
  source_map_frames(&c->d->map, p->pc, frame);
  source_map_place(&c->d->map, frame[0].row, line, sizeof line);
  module_where(c->d->map.module, p->pc, where, sizeof where);
  fprintf(c->out, "  %08llx  0x%" PRIx64 " <%s>  %s%s%s\n", (unsigned long long)p->mask, p->pc, where,
          path_wait_name(p->wait), *line ? "  " : "", line);
}

static bool info_warps(struct console *c, char *args, struct err *e)
{
  (void)args;
  if (!has_focus(c, e)) return false;
  const struct step_cta *cta = view_cta(&c->d->focus);
  for (unsigned k = 0; k < cta->n_warps; k++) {
    fprintf(c->out, "%s warp %u%s\n", k == c->d->focus.warp ? "*" : " ", k, cta->warp[k]->paths.n ? "" : ": has ended");
    for (unsigned i = 0; i < cta->warp[k]->paths.n; i++) show_path(c, cta, k, i);
  }
  return true;
}

static bool info_lanes(struct console *c, char *args, struct err *e)
{
  (void)args;
  if (!has_focus(c, e)) return false;
  struct lane_view v = c->d->focus;
  for (v.lane = 0; v.lane < c->d->target.source->lanes; v.lane++) {
    const struct step_path *p = view_path(&v);
    if (!p) continue;
    const struct view_place at = view_place_of(&v);
    fprintf(c->out, "%s lane %2u  thread (%u,%u,%u)  0x%" PRIx64 "  %s\n", v.lane == c->d->focus.lane ? "*" : " ",
            v.lane, at.thread[0], at.thread[1], at.thread[2], p->pc, path_wait_name(p->wait));
  }
  return true;
}

static void show_register(struct console *c, const char *name, unsigned reg, bool all_lanes)
{
  struct lane_view v = c->d->focus;
  uint32_t value;
  if (!all_lanes) {
    if (view_register(&v, reg, &value)) fprintf(c->out, "%-5s 0x%08x  %u\n", name, value, value);
    return;
  }
  fprintf(c->out, "%s", name);
  for (v.lane = 0; v.lane < c->d->target.source->lanes; v.lane++) {
    if (v.lane % 8 == 0) fprintf(c->out, "%s[%2u]", v.lane ? "\n     " : " ", v.lane);
    if (view_register(&v, reg, &value)) fprintf(c->out, " %08x", value);
  }
  fputc('\n', c->out);
}

/* The ones named, of all lanes; else those of the lane that are not zero. */
static bool info_registers(struct console *c, char *args, struct err *e)
{
  bool fixed;
  uint32_t value;
  if (!has_focus(c, e)) return false;
  while (*args) {
    const char *name = console_word(&args);
    const int reg = view_register_number(name, &fixed, &value);
    if (reg < 0 || fixed || !view_register(&c->d->focus, (unsigned)reg, &value))
      return err_set(e, "the kernel has no register '%.20s'", name);
    show_register(c, name, (unsigned)reg, (unsigned)reg < HAZARD_UR);
    if (!*args) return true;
  }
  static const struct {
    const char *prefix;
    unsigned first, end;
  } files[] = {{"R", 0, HAZARD_UR},
               {"UR", HAZARD_UR, HAZARD_P},
               {"P", HAZARD_P, HAZARD_UP - 1},
               {"UP", HAZARD_UP, HAZARD_REGS - 1}};
  for (unsigned i = 0; i < 4; i++)
    for (unsigned reg = files[i].first; reg < files[i].end; reg++) {
      char name[16];
      if (!view_register(&c->d->focus, reg, &value) || !value) continue;
      snprintf(name, sizeof name, "%s%u", files[i].prefix, reg - files[i].first);
      show_register(c, name, reg, false);
    }
  return true;
}

static bool info_kernels(struct console *c, char *args, struct err *e)
{
  (void)args, (void)e;
  for (unsigned i = 0; i < module_kernel_count(c->d->map.module); i++) {
    const struct module_kernel *k = module_kernel_at(c->d->map.module, i);
    fprintf(c->out, "%s 0x%" PRIx64 "  %s, %u registers\n", k == c->d->kernel ? "*" : " ", k->entry_pc, k->name,
            k->regs);
  }
  return true;
}

static void print_local(void *ctx, const char *name, const struct debug_value *v, const struct err *why)
{
  struct console *c = ctx;
  fprintf(c->out, v ? "%s = " : "%s: ", name);
  if (v)
    source_value_print(c->d, &c->d->focus, v, c->out);
  else
    fputs(why->msg, c->out);
  fputc('\n', c->out);
}

static bool info_locals(struct console *c, char *args, struct err *e)
{
  (void)args;
  if (!has_focus(c, e)) return false;
  if (!c->d->variables.n_variables) return err_set(e, "the code names no variables; compile it with -G");
  source_variables_each(c->d, print_local, c);
  return true;
}

bool command_info(struct console *c, char *args, struct err *e)
{
  static const struct {
    const char *name;
    console_command *run;
  } what[] = {
      {"launch", info_launch},   {"ctas", info_ctas},           {"warps", info_warps},
      {"lanes", info_lanes},     {"registers", info_registers}, {"breakpoints", command_info_breakpoints},
      {"kernels", info_kernels}, {"locals", info_locals},
  };
  const char *name = console_word(&args);
  for (unsigned i = 0; *name && i < sizeof what / sizeof what[0]; i++)
    if (strncmp(what[i].name, name, strlen(name)) == 0) return what[i].run(c, args, e);
  return err_set(e, "info what? launch, ctas, warps, lanes, registers, breakpoints, kernels or locals");
}

/* ---- the focus ---- */

static bool look_at(struct console *c, uint64_t cta, unsigned warp, unsigned lane, struct err *e)
{
  if (!debugger_focus(c->d, cta, warp, lane, e)) return false;
  c->list_row = NULL;
  console_show_focus(c);
  return true;
}

/* The first lane of a warp that has not exited, as near to `lane` as can be. */
static unsigned some_lane(const struct console *c, int slot, unsigned warp, unsigned lane)
{
  const struct step_cta *cta = slot < 0 ? NULL : c->d->target.slot[slot];
  const uint32_t live = cta && warp < cta->n_warps ? func_live_lanes(cta, warp) : 0;
  return live && !(live >> lane & 1) ? (unsigned)bits_first(live) : lane;
}

bool command_lane(struct console *c, char *args, struct err *e)
{
  uint64_t n;
  if (!has_focus(c, e) || !console_number(c, args, &n, e)) return false;
  return look_at(c, view_cta(&c->d->focus)->id, c->d->focus.warp, n < LANES_MAX ? (unsigned)n : LANES_MAX, e);
}

bool command_warp(struct console *c, char *args, struct err *e)
{
  uint64_t n;
  if (!has_focus(c, e) || !console_number(c, args, &n, e)) return false;
  const unsigned warp = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
  return look_at(c, view_cta(&c->d->focus)->id, warp, some_lane(c, (int)c->d->focus.slot, warp, c->d->focus.lane), e);
}

/* "3" or "1,0,0": linear number, x fastest. */
static bool read_triple(struct console *c, char *text, const uint32_t size[3], uint64_t *n, struct err *e)
{
  uint64_t at[3] = {0};
  for (unsigned k = 0; k < 3 && text; k++) {
    char *comma = strchr(text, ',');
    if (comma) *comma++ = '\0';
    if (!console_number(c, text, &at[k], e)) return false;
    if (comma && at[k] >= size[k]) return err_set(e, "there are only %u, %u, %u", size[0], size[1], size[2]);
    text = comma;
  }
  *n = at[0] + (uint64_t)size[0] * (at[1] + (uint64_t)size[1] * at[2]);
  return true;
}

bool command_cta(struct console *c, char *args, struct err *e)
{
  uint64_t n;
  if (!read_triple(c, args, c->d->target.source->grid, &n, e)) return false;
  const int slot = target_slot_of(&c->d->target, n);
  unsigned warp = 0;
  while (slot >= 0 && warp + 1 < c->d->target.slot[slot]->n_warps && !c->d->target.slot[slot]->warp[warp]->paths.n)
    warp++;
  return look_at(c, n, warp, some_lane(c, slot, warp, 0), e);
}

bool command_thread(struct console *c, char *args, struct err *e)
{
  uint64_t n;
  if (!has_focus(c, e) || !read_triple(c, args, c->d->target.source->block, &n, e)) return false;
  if (n >= c->d->target.source->threads_per_cta)
    return err_set(e, "a CTA has %u threads, from 0", c->d->target.source->threads_per_cta);
  return look_at(c, view_cta(&c->d->focus)->id, (unsigned)(n / 32), (unsigned)(n % 32), e);
}

bool command_state(struct console *c, char *args, struct err *e)
{
  (void)args, (void)e;
  fprintf(c->out, "position %" PRIu64 ", state %016" PRIx64 "\n", c->d->target.position, target_digest(&c->d->target));
  return true;
}
