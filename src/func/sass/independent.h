/* Whether the CTAs of a launch can run at the same time and give what they give one after the other. */
#ifndef WS_FUNC_SASS_INDEPENDENT_H
#define WS_FUNC_SASS_INDEPENDENT_H

#include "func/sass/func_launch.h"

/* True: no code that the kernel can reach tells the order of CTAs or lets one wait for another. It has no atomics
 * but integer reductions of words, all of one kind, which commute; no strong or volatile accesses to global memory; no
 * fence wider than the CTA; no service of the device runtime; it reads no clock and no SM number; all its calls are
 * direct. What is left are plain accesses of several CTAs to one byte: races, which CUDA leaves undefined (CUDA C++
 * Programming Guide, "Memory Model"). Assumed: a jump through a table stays in its function. */
bool func_ctas_independent(const struct func_launch *);

#endif
