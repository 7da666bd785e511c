#include "base/json_out.h"

#include <math.h>

#include "base/bug.h"
#include "base/text.h"

enum { REAL_BYTES = 40 };

void json_out_open(struct json_out *j, struct text_out *to, struct json_form form)
{
  *j = (struct json_out){.to = to, .form = form};
}

static void new_line(const struct json_out *j, unsigned depth)
{
  if (!j->form.indent) return;
  size_t spaces = (size_t)depth * j->form.indent;
  char *at = text_out_room(j->to, spaces + 1);
  *at = '\n';
  memset(at + 1, ' ', spaces);
  j->to->n += spaces + 1;
}

/* What stands before a value: a comma, its line, its key. */
static void begin_value(struct json_out *j, const char *key)
{
  BUG_ON((key == NULL) != (j->depth == 0 || j->is_array[j->depth - 1]));
  if (!j->depth) return;
  if (j->has_elements[j->depth - 1]) text_out_char(j->to, ',');
  j->has_elements[j->depth - 1] = true;
  new_line(j, j->depth);
  if (!key) return;
  text_out_char(j->to, '"');
  text_out_text(j->to, key);
  text_out_bytes(j->to, "\": ", j->form.indent ? 3 : 2);
}

static void begin_level(struct json_out *j, const char *key, bool is_array)
{
  begin_value(j, key);
  BUG_ON(j->depth == JSON_OUT_DEPTH);
  text_out_char(j->to, is_array ? '[' : '{');
  j->is_array[j->depth] = is_array;
  j->has_elements[j->depth++] = false;
}

void json_out_object(struct json_out *j, const char *key)
{
  begin_level(j, key, false);
}

void json_out_array(struct json_out *j, const char *key)
{
  begin_level(j, key, true);
}

void json_out_end(struct json_out *j)
{
  BUG_ON(!j->depth);
  j->depth--;
  if (j->has_elements[j->depth]) new_line(j, j->depth);
  text_out_char(j->to, j->is_array[j->depth] ? ']' : '}');
}

void json_out_u64(struct json_out *j, const char *key, uint64_t v)
{
  begin_value(j, key);
  text_out_u64(j->to, v);
}

void json_out_bool(struct json_out *j, const char *key, bool v)
{
  begin_value(j, key);
  text_out_text(j->to, v ? "true" : "false");
}

void json_out_null(struct json_out *j, const char *key)
{
  begin_value(j, key);
  text_out_text(j->to, "null");
}

/* An exponent without its plus and its leading zeros. */
static size_t shorten_exponent(char *text, size_t n)
{
  char *e = strchr(text, 'e');
  if (!e) return n;
  char *to = e + 1, *from = e + 1;
  if (*from == '-') to++;
  from++; /* the sign, which printf always writes */
  while (from[0] == '0' && from[1]) from++;
  memmove(to, from, (size_t)(text + n - from));
  return n - (size_t)(from - to);
}

void json_out_real(struct json_out *j, const char *key, double v)
{
  char text[REAL_BYTES];
  if (isnan(v) || isinf(v)) {
    json_out_null(j, key);
    return;
  }
  begin_value(j, key);
  size_t n = (size_t)snprintf(text, sizeof text, "%.*g", j->form.digits ? (int)j->form.digits : 15, v);
  n = shorten_exponent(text, n);
  text_out_bytes(j->to, text, n);
  if (!memchr(text, '.', n) && !memchr(text, 'e', n)) text_out_text(j->to, ".0");
}

/* --- strings ---------------------------------------------------------------------------------------- */

/* Whether it stands in a string as it is. */
static bool is_plain(const struct json_out *j, uint8_t c)
{
  return c >= 0x20 && c != '"' && c != '\\' && !(c == '<' && j->form.in_script);
}

static void put_escape(struct text_out *t, uint8_t c)
{
  static const char hex[] = "0123456789ABCDEF", named[] = "\"\\\b\f\n\r\t", name[] = "\"\\bfnrt";
  const char *known = memchr(named, c, sizeof named - 1);
  text_out_char(t, '\\');
  if (known) {
    text_out_char(t, name[known - named]);
  } else if (c == '<') {
    text_out_text(t, "u003c");
  } else {
    text_out_text(t, "u00");
    text_out_char(t, hex[c >> 4]);
    text_out_char(t, hex[c & 15]);
  }
}

static void put_string(struct json_out *j, const char *s)
{
  text_out_char(j->to, '"');
  for (;;) {
    size_t n = 0;
    while (is_plain(j, (uint8_t)s[n])) n++;
    text_out_bytes(j->to, s, n);
    if (!s[n]) break;
    put_escape(j->to, (uint8_t)s[n]);
    s += n + 1;
  }
  text_out_char(j->to, '"');
}

void json_out_text(struct json_out *j, const char *key, const char *s)
{
  char safe[4096];
  if (!s) {
    json_out_null(j, key);
    return;
  }
  begin_value(j, key);
  put_string(j, text_is_utf8(s) ? s : text_safe(s, safe, sizeof safe));
}

/* --- what was written before -------------------------------------------------------------------------- */

void json_out_value(struct json_out *j, const char *key, const char *json, size_t bytes)
{
  begin_value(j, key);
  text_out_bytes(j->to, json, bytes);
}

/* In JSON '<' is only in strings. */
void json_out_foreign(struct json_out *j, const char *key, const char *json)
{
  begin_value(j, key);
  for (const char *tag; j->form.in_script && (tag = strchr(json, '<')); json = tag + 1) {
    text_out_bytes(j->to, json, (size_t)(tag - json));
    put_escape(j->to, '<');
  }
  text_out_text(j->to, json);
}
