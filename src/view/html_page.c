#include "view/html_page.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "view/html_assets.h"
#include "view/json.h"

/* A script ends at the first "</script", and "<!--" makes it end elsewhere. */
static const struct json_form form = {.in_script = true};

void html_page_report(struct text_out *t, const struct report *r, bool with_host)
{
  struct json_out j;
  json_out_open(&j, t, form);
  view_json_run(&j, NULL, r, with_host);
}

static void put_runs(struct json_out *j, const struct html_page *p)
{
  json_out_array(j, "runs");
  for (unsigned i = 0; i < p->n_runs; i++) {
    json_out_object(j, NULL);
    json_out_u64(j, "number", p->run[i].number);
    json_out_value(j, "report", p->run[i].report, p->run[i].bytes);
    json_out_end(j);
  }
  json_out_end(j);
}

/* What was read from a file, or is small. */
static void put_tree(struct json_out *j, const char *key, const json_t *tree)
{
  char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(15));
  NO_MEMORY_IF(!text);
  json_out_foreign(j, key, text);
  free(text);
}

static void put_data(FILE *f, const struct html_page *p)
{
  struct text_out t;
  struct json_out j;
  text_out_open(&t, f);
  json_out_open(&j, &t, form);
  json_out_object(&j, NULL);
  json_out_text(&j, "schema", HTML_PAGE_SCHEMA);
  put_runs(&j, p);
  if (p->program) put_tree(&j, "program", p->program);
  if (p->baseline) put_tree(&j, "baseline", p->baseline);
  if (p->baseline) json_out_text(&j, "baseline_name", p->baseline_name);
  json_out_end(&j);
  text_out_close(&t);
}

static void put_asset(FILE *f, const struct html_asset *a)
{
  fwrite(a->data, 1, a->bytes, f);
}

static void put_style(FILE *f, const struct html_page *p)
{
  (void)p;
  put_asset(f, &html_style);
}

static void put_script(FILE *f, const struct html_page *p)
{
  (void)p;
  put_asset(f, &html_script);
}

static void put_charts(FILE *f, const struct html_page *p)
{
  (void)p;
  put_asset(f, &html_charts);
}

static void put_licence(FILE *f, const struct html_page *p)
{
  (void)p;
  for (size_t i = 0; i < html_charts_licence.bytes; i++) {
    int c = html_charts_licence.data[i];
    if (c == '<') fputs("&lt;", f);
    else if (c == '&') fputs("&amp;", f);
    else putc(c, f);
  }
}

/* What stands in the template as a comment. */
static const struct slot {
  const char *mark;
  void (*put)(FILE *, const struct html_page *);
} slots[] = {
  {"<!--style-->", put_style},   {"<!--data-->", put_data},     {"<!--charts-->", put_charts},
  {"<!--script-->", put_script}, {"<!--licence-->", put_licence},
};

static const struct slot *slot_at(const char *text, size_t n)
{
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
    size_t bytes = strlen(slots[i].mark);
    if (n >= bytes && !memcmp(text, slots[i].mark, bytes)) return &slots[i];
  }
  return NULL;
}

void html_page_write(FILE *f, const struct html_page *p)
{
  const char *text = (const char *)html_template.data, *end = text + html_template.bytes;
  const char *from = text;
  while (text < end) {
    const struct slot *s = *text == '<' ? slot_at(text, (size_t)(end - text)) : NULL;
    if (!s) {
      text++;
      continue;
    }
    fwrite(from, 1, (size_t)(text - from), f);
    s->put(f, p);
    text += strlen(s->mark);
    from = text;
  }
  fwrite(from, 1, (size_t)(end - from), f);
}
