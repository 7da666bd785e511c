#include "ncu/ncu_action.h"

#include <math.h>

void ncu_action_init(struct ncu_action *a)
{
  *a = (struct ncu_action){.process = "", .kernel = "", .gpu = ""};
  for (unsigned i = 0; i < NCU_DOMAIN__N; i++) a->domain[i] = (struct ncu_domain_state){NAN, NAN, NAN, NAN};
  for (unsigned i = 0; i < NCU_N_ROWS; i++) a->value[i] = (struct ncu_value){NAN, NAN, NAN, NAN};
}

void ncu_action_free(struct ncu_action *a)
{
  arena_free(&a->arena);
  *a = (struct ncu_action){0};
}
