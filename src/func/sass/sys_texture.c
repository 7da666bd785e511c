/* Texture sampling as a runtime service: what nvcc calls for tex3DGrad and texCubemapGrad from sm_90 on.
 * Texture object in R4:R5; R8 on: layer (layered ones only), x, y, z, for 3D images and cubes without layers z again,
 * the change to the right in R12, R13, R14; the change below on the stack at R1. Results: R4 not 0: resident, R5 to R8
 * the components (compiler output, CUDA 13.0).
 */
#include <string.h>

#include "func/sass/guest.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"
#include "func/sass/sampler.h"
#include "func/sass/sys.h"

enum { REG_STACK = 1, REG_OBJECT = 4, REG_ARGUMENT = 8, REG_RIGHT = 12, REG_RESULT = 4, COORDS = 3, COMPONENTS = 4 };

static void read_registers(const struct func_warp *w, unsigned reg, unsigned lane, uint32_t *v)
{
  for (unsigned k = 0; k < COORDS; k++) v[k] = warp_reg(w, reg + k)[lane];
}

static bool read_texels(struct guest *g, const struct tex_object *o, const struct footprint *fp, uint8_t *texel)
{
  for (unsigned k = 0; k < footprint_texels(fp); k++)
    if (fp->addr[k] != TEXEL_BORDER &&
        !guest_read(g, fp->addr[k], texel + (size_t)k * TEXEL_MAX_BYTES, texel_bytes(&o->image)))
      return false;
  return true;
}

static bool shape_matches(const struct image *m, bool layered)
{
  return (m->shape == IMAGE_CUBE || (m->shape == IMAGE_3D && !layered)) && layered == (m->layers != 0);
}

bool sys_tex_grad(struct func_warp *w, bool layered, unsigned lane, struct effect *e, struct fault *f)
{
  struct guest g = { w, lane };
  uint32_t right[COORDS], below[COORDS], out[COMPONENTS];
  float v[COORDS], dx[COORDS], dy[COORDS];
  struct sample_at at = { .layer = layered ? warp_reg(w, REG_ARGUMENT)[lane] : 0 };
  struct footprint fp;
  uint8_t texel[FOOTPRINT_MAX * TEXEL_MAX_BYTES];
  const struct tex_object *o = func_object(w, e, lane, warp_reg(w, REG_OBJECT)[lane], false, f);
  if (!o) return false;
  if (!shape_matches(&o->image, layered))
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, 0,
                      "texture '%.60s' has another shape than the call samples", o->name);
  read_registers(w, REG_ARGUMENT + layered, lane, at.xyz);
  read_registers(w, REG_RIGHT, lane, right);
  uint64_t stack = warp_reg(w, REG_STACK)[lane];
  if (!guest_read_local(&g, stack, below, sizeof below))
    return func_fault(w, e, f, FAULT_LOCAL_RANGE, lane, stack, "the stack of a texture gradient is not there");
  memcpy(v, at.xyz, sizeof v), memcpy(dx, right, sizeof dx), memcpy(dy, below, sizeof dy);
  at.lod = sampler_lod(o, v, dx, dy);
  sampler_footprint(o, SAMPLE_FILTER, &at, &fp);
  if (!read_texels(&g, o, &fp, texel))
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, 0, "texture '%.60s': its memory is not mapped", o->name);
  sampler_blend(o, SAMPLE_FILTER, &fp, texel, out);
  warp_reg(w, REG_RESULT)[lane] = 1;
  for (unsigned c = 0; c < COMPONENTS; c++) warp_reg(w, REG_RESULT + 1 + c)[lane] = out[c];
  return true;
}
