#include "view/html_page.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "view/html_assets.h"
#include "view/json.h"

json_t *html_page_run(uint64_t number, json_t *report)
{
  json_t *j = json_pack("{s:I, s:o}", "number", (json_int_t)number, "report", report);
  NO_MEMORY_IF(!j);
  return j;
}

/* A script ends at the first "</script", and "<!--" makes it end elsewhere: in JSON '<' is only in strings, which may
 * spell it. */
static void write_data(FILE *f, const char *text)
{
  for (const char *tag; (tag = strchr(text, '<')); text = tag + 1) {
    fwrite(text, 1, (size_t)(tag - text), f);
    fputs("\\u003c", f);
  }
  fputs(text, f);
}

static void put_data(FILE *f, const struct html_page *p)
{
  json_t *all = json_object();
  json_object_set_new(all, "schema", json_string(HTML_PAGE_SCHEMA));
  json_object_set(all, "runs", p->runs);
  if (p->program) json_object_set(all, "program", p->program);
  if (p->baseline) json_object_set(all, "baseline", p->baseline);
  if (p->baseline) json_object_set_new(all, "baseline_name", view_json_text(p->baseline_name));
  char *text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(15));
  NO_MEMORY_IF(!text);
  write_data(f, text);
  free(text);
  json_decref(all);
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
