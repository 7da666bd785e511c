/*
 * A 32 x 24 image of four spheres under parallel rays: quadratic per sphere, nearest
 * hit, diffuse shade.  Divergent hits, predicated updates, sqrtf and division.
 * Built without FMA contraction: every operation is correctly rounded, so pixels
 * are exact.
 */
struct sphere {
    float x, y, z, r;
};

__constant__ struct sphere scene[4];

extern "C" __global__ void raytrace(unsigned char *image, float *depth, int w)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float x = px * 0.25f - 4.0f, y = py * 0.25f - 3.0f;
    float nearest = INFINITY, shade = 0;

    for (int i = 0; i < 4; i++) {
        float dx = x - scene[i].x, dy = y - scene[i].y;
        float d = scene[i].r * scene[i].r - dx * dx - dy * dy;
        if (d < 0)
            continue;
        float h = sqrtf(d), z = scene[i].z - h;
        if (z < nearest) {
            nearest = z;
            shade = (h * 2.0f - dx - dy) / (scene[i].r * 3.0f); /* normal times light */
        }
    }
    image[py * w + px] = (unsigned char)(255.0f * fminf(fmaxf(shade, 0.0f), 1.0f));
    depth[py * w + px] = nearest;
}
