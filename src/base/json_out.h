/* JSON as a stream: values are written in the order in which they are put, none is kept. The same bytes as jansson
 * writes of a tree, in a tenth of its time, which is what tells in reports with hundreds of thousands of values.
 *
 *   struct json_out j;
 *   json_out_open(&j, &text, (struct json_form){.indent = 2});
 *   json_out_object(&j, NULL);                     the document
 *   json_out_u64(&j, "cycles", 12);
 *   json_out_array(&j, "grid");
 *   json_out_u64(&j, NULL, 1);                     elements have no key
 *   json_out_end(&j);                              the array
 *   json_out_end(&j);                              the object
 *
 * Keys are put as they are: names of our own, without a character that JSON would escape, each once in an object.
 */
#ifndef WS_BASE_JSON_OUT_H
#define WS_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_out.h"

enum { JSON_OUT_DEPTH = 32 };

struct json_form {
  unsigned indent; /* spaces for each level; 0: all in one line, without any */
  unsigned digits; /* of real numbers; 0: 15. 17 give back each double */
  bool in_script;  /* '<' in strings as \u003c: a script of a page ends at the first "</script" */
};

struct json_out {
  struct text_out *to;
  struct json_form form;
  unsigned depth;                   /* open objects and arrays */
  bool is_array[JSON_OUT_DEPTH];    /* by depth - 1 */
  bool has_elements[JSON_OUT_DEPTH];
};

void json_out_open(struct json_out *, struct text_out *, struct json_form);

/* An object or array begins, until json_out_end. key NULL: the document, or an element of an array. */
void json_out_object(struct json_out *, const char *key);
void json_out_array(struct json_out *, const char *key);
void json_out_end(struct json_out *);

void json_out_u64(struct json_out *, const char *key, uint64_t);
/* Up to so many significant digits, with a point or an exponent; infinity and what is no number: null. */
void json_out_real(struct json_out *, const char *key, double);
/* Text of any origin: where it is not UTF-8, all of it as text_safe has it (base/text.h). NULL: null. */
void json_out_text(struct json_out *, const char *key, const char *);
void json_out_bool(struct json_out *, const char *key, bool);
void json_out_null(struct json_out *, const char *key);
/* A value that was written before, by the same form. */
void json_out_value(struct json_out *, const char *key, const char *json, size_t bytes);
/* As it is, but for what in_script asks. */
void json_out_foreign(struct json_out *, const char *key, const char *json);

#endif
