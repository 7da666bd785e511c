#include "study/sweep_store.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "warpstep/warpstep.h"

struct sweep_store {
  sqlite3 *db;
  sqlite3_stmt *add, *get;
  int lock; /* -1: opened to read only */
  char path[PATH_MAX];
};

static bool failed(const struct sweep_store *s, struct err *e)
{
  NO_MEMORY_IF(sqlite3_errcode(s->db) == SQLITE_NOMEM);
  return err_set(e, "%s: %s; choose another file of results (--out)", s->path, sqlite3_errmsg(s->db));
}

/* --- opening ------------------------------------------------------------------------------------ */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS study(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS result(gpu TEXT NOT NULL, run TEXT NOT NULL, settings TEXT NOT NULL,"
    " status INTEGER NOT NULL, cycles REAL, time_ns REAL, warp_insts REAL, host_seconds REAL, why TEXT, report TEXT,"
    " PRIMARY KEY(gpu, run, settings));";

static bool set_key(struct sweep_store *s, const char *key, const char *value, struct err *e)
{
  sqlite3_stmt *q;
  static const char add[] = "INSERT OR IGNORE INTO study VALUES(?, ?)";
  if (sqlite3_prepare_v2(s->db, add, -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
  sqlite3_bind_text(q, 2, value, -1, SQLITE_STATIC);
  const bool ok = sqlite3_step(q) == SQLITE_DONE;
  sqlite3_finalize(q);
  return ok || failed(s, e);
}

/* Whether the file has this value, or none, for the key; then it has it from now on. */
static bool same_key(struct sweep_store *s, const char *key, const char *value, const char *what, struct err *e)
{
  static const char get[] = "SELECT value FROM study WHERE key = ?";
  sqlite3_stmt *q;
  TRY(set_key(s, key, value, e));
  if (sqlite3_prepare_v2(s->db, get, -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
  const char *text = sqlite3_step(q) == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
  const bool same = text && strcmp(text, value) == 0;
  sqlite3_finalize(q);
  return same || err_set(e, "%s: its results are of another %s, and cannot be compared with new ones; choose another "
                            "file (--out), or remove it", s->path, what);
}

static bool same_gpus(struct sweep_store *s, const struct sweep *w, const char *presets, struct err *e)
{
  for (unsigned i = 0; i < w->gpu.n; i++) {
    char key[PATH_MAX + 8], what[PATH_MAX + 40], identity[32];
    snprintf(key, sizeof key, "gpu %s", w->gpu.text[i]);
    snprintf(what, sizeof what, "%.200s (its preset, or 'set')", w->gpu.text[i]);
    TRY(sweep_identity(w, w->gpu.text[i], presets, identity, sizeof identity, e));
    TRY(same_key(s, key, identity, what, e));
  }
  return true;
}

static bool prepare(struct sweep_store *s, struct err *e)
{
  static const char add[] = "INSERT OR REPLACE INTO result VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  static const char get[] = "SELECT status, cycles, time_ns, warp_insts, host_seconds FROM result"
                            " WHERE gpu = ? AND run = ? AND settings = ?";
  return (sqlite3_prepare_v2(s->db, add, -1, &s->add, NULL) == SQLITE_OK &&
          sqlite3_prepare_v2(s->db, get, -1, &s->get, NULL) == SQLITE_OK) || failed(s, e);
}

static struct sweep_store *open_file(const char *path, int flags, struct err *e)
{
  struct sweep_store *s = mem_zeroed(1, sizeof *s);
  s->lock = -1;
  snprintf(s->path, sizeof s->path, "%s", path);
  if (sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK) {
    sqlite3_busy_timeout(s->db, 10000);
    return s;
  }
  failed(s, e);
  sweep_store_close(s);
  return NULL;
}

static bool take_lock(struct sweep_store *s, struct err *e)
{
  s->lock = open(s->path, O_RDONLY | O_CLOEXEC);
  if (s->lock < 0) return err_set(e, "%s: %s; choose another file of results (--out)", s->path, host_error());
  if (flock(s->lock, LOCK_EX | LOCK_NB) == 0) return true;
  return err_set(e, "%s: another sweep is writing to it; wait for it, or choose another file (--out)", s->path);
}

static bool begin(struct sweep_store *s, const struct sweep *w, const char *build, const char *presets, struct err *e)
{
  char folder[PATH_MAX];
  if (!realpath(w->dir, folder)) return err_set(e, "%s: %s", w->dir, host_error());
  if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK) return failed(s, e);
  return take_lock(s, e) && same_key(s, "build", build, "build of warpstep", e) &&
         same_key(s, "folder", folder, "folder", e) && same_gpus(s, w, presets, e) &&
         set_key(s, "version", ws_version(), e) && set_key(s, "name", w->name, e) && prepare(s, e);
}

struct sweep_store *sweep_store_open(const char *path, const struct sweep *w, const char *build, const char *presets,
                                     struct err *e)
{
  struct sweep_store *s = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
  if (!s || begin(s, w, build, presets, e)) return s;
  sweep_store_close(s);
  return NULL;
}

struct sweep_store *sweep_store_look(const char *path, struct err *e)
{
  struct sweep_store *s = open_file(path, SQLITE_OPEN_READONLY, e);
  if (!s || prepare(s, e)) return s;
  sweep_store_close(s);
  return NULL;
}

void sweep_store_close(struct sweep_store *s)
{
  if (!s) return;
  sqlite3_finalize(s->add);
  sqlite3_finalize(s->get);
  sqlite3_close(s->db);
  if (s->lock >= 0) close(s->lock);
  mem_free(s);
}

/* --- rows --------------------------------------------------------------------------------------- */

static void bind_point(sqlite3_stmt *q, const struct sweep *w, const struct sweep_point *p)
{
  char settings[SWEEP_SETTINGS];
  sweep_settings(w, p, settings);
  sqlite3_reset(q);
  sqlite3_bind_text(q, 1, p->gpu, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(q, 2, p->run, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(q, 3, settings, -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *q, int at, bool known, double value)
{
  if (known) sqlite3_bind_double(q, at, value);
  else sqlite3_bind_null(q, at);
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
  if (text) sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
  else sqlite3_bind_null(q, at);
}

bool sweep_store_add(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p,
                     const struct sweep_result *r, struct err *e)
{
  bind_point(s->add, w, p);
  sqlite3_bind_int(s->add, 4, r->status);
  bind_number(s->add, 5, r->timed, r->cycles);
  bind_number(s->add, 6, r->timed, r->time_ns);
  bind_number(s->add, 7, r->timed, r->warp_insts);
  bind_number(s->add, 8, true, r->host_seconds);
  bind_text(s->add, 9, r->why);
  bind_text(s->add, 10, r->report);
  const bool ok = sqlite3_step(s->add) == SQLITE_DONE;
  sqlite3_reset(s->add);
  return ok || failed(s, e);
}

bool sweep_store_get(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p, struct sweep_result *r)
{
  *r = (struct sweep_result){0};
  bind_point(s->get, w, p);
  const bool there = sqlite3_step(s->get) == SQLITE_ROW;
  if (there) {
    r->status = sqlite3_column_int(s->get, 0);
    r->timed = sqlite3_column_type(s->get, 1) != SQLITE_NULL;
    r->cycles = sqlite3_column_double(s->get, 1);
    r->time_ns = sqlite3_column_double(s->get, 2);
    r->warp_insts = sqlite3_column_double(s->get, 3);
    r->host_seconds = sqlite3_column_double(s->get, 4);
  }
  sqlite3_reset(s->get);
  return there;
}

bool sweep_store_has(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p, int *status)
{
  struct sweep_result r;
  const bool there = sweep_store_get(s, w, p, &r);
  *status = r.status;
  return there;
}

/* Results depend on the same things: for no key that both have do they differ, but for the name. */
static bool fits(struct sweep_store *s, const char *path, struct err *e)
{
  static const char differ[] = "SELECT key FROM study AS a JOIN other.study AS b USING(key)"
                               " WHERE a.value IS NOT b.value AND key <> 'name'";
  sqlite3_stmt *q;
  if (sqlite3_prepare_v2(s->db, differ, -1, &q, NULL) != SQLITE_OK)
    return err_set(e, "%s: %s", path, sqlite3_errmsg(s->db));
  const bool some = sqlite3_step(q) == SQLITE_ROW;
  sqlite3_finalize(q);
  return !some || err_set(e, "%s: its results are of another build, folder or GPU than those of %s", path, s->path);
}

static bool merge_attached(struct sweep_store *s, const char *path, struct err *e)
{
  static const char merge[] =
      "BEGIN; DELETE FROM result WHERE status <> 0 AND EXISTS (SELECT 1 FROM other.result AS o"
      " WHERE o.gpu = result.gpu AND o.run = result.run AND o.settings = result.settings);"
      "INSERT OR IGNORE INTO result SELECT * FROM other.result; COMMIT";
  if (!fits(s, path, e)) return false;
  if (sqlite3_exec(s->db, merge, NULL, NULL, NULL) == SQLITE_OK) return true;
  err_fill(e, "%s: %s", path, sqlite3_errmsg(s->db));
  sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  return false;
}

bool sweep_store_merge(struct sweep_store *s, const char *path, struct err *e)
{
  sqlite3_stmt *q;
  if (access(path, R_OK) != 0) return err_set(e, "%s: %s", path, host_error());
  if (sqlite3_prepare_v2(s->db, "ATTACH ? AS other", -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
  bool ok = sqlite3_step(q) == SQLITE_DONE;
  sqlite3_finalize(q);
  if (!ok) return failed(s, e);
  ok = merge_attached(s, path, e);
  sqlite3_exec(s->db, "DETACH other", NULL, NULL, NULL);
  return ok;
}
