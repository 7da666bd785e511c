/* Errors, versions, structs of other versions. */
#include <string.h>

#include "api/api_internal.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *ws_version(void)
{
  return TEXT(WS_VERSION_MAJOR) "." TEXT(WS_VERSION_MINOR) "." TEXT(WS_VERSION_PATCH);
}

unsigned ws_abi_version(void)
{
  return WS_ABI_VERSION;
}

int ws_fail(ws_error *e, int status, const char *fmt, ...)
{
  ws_error filled = {sizeof filled, status, {0}};
  va_list ap;

  va_start(ap, fmt);
  vsnprintf(filled.message, sizeof filled.message, fmt, ap);
  va_end(ap);
  if (e) ws_struct_out(e, &filled, sizeof filled);
  return status;
}

int ws_fail_err(ws_error *e, int status, const struct err *why)
{
  return ws_fail(e, status, "%s", why->msg);
}

int ws_fail_memory(ws_error *e)
{
  return ws_fail(e, WS_NO_HOST_MEMORY, "out of host memory: the machine, or a limit (ulimit -v), has too little");
}

bool ws_struct_in(void *to, size_t room, const void *from)
{
  size_t size = *(const size_t *)from;
  if (size < sizeof size || size > room) return false;
  memset(to, 0, room);
  memcpy(to, from, size);
  return true;
}

bool ws_struct_out(void *to, const void *from, size_t bytes)
{
  size_t size = *(const size_t *)to;
  if (size < sizeof size || size > bytes) return false;
  memcpy((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size);
  return true;
}
