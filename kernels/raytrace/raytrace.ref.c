/*
 * Reference of raytrace: each operation in double, rounded to float, which gives the
 * correctly rounded float result for +, -, *, / and sqrt.
 */
#include "../common/ref.h"

enum { W = 32, H = 24 };

int main(int argc, char **argv)
{
    static const float scene[4][4] = {
        {-1.5f, -0.7f, 6.0f, 1.8f}, {0.3f, 0.4f, 5.0f, 1.3f}, {2.0f, 1.1f, 7.5f, 2.0f},
        {2.2f, -1.6f, 4.1f, 0.9f},
    };
    static uint8_t image[H][W];
    static float depth[H][W];

    ref_init(argc, argv);
    for (int py = 0; py < H; py++)
        for (int px = 0; px < W; px++) {
            double x = px * 0.25 - 4, y = py * 0.25 - 3, nearest = INFINITY, shade = 0;
            for (int i = 0; i < 4; i++) {
                const float *s = scene[i];
                float dx = (float)(x - (double)s[0]), dy = (float)(y - (double)s[1]);
                float r2 = (float)((double)s[3] * (double)s[3]);
                float a = (float)((double)r2 - (double)(float)((double)dx * (double)dx));
                float d = (float)((double)a - (double)(float)((double)dy * (double)dy));
                if (d < 0)
                    continue;
                float h = (float)sqrt((double)d), z = (float)((double)s[2] - (double)h);
                if ((double)z < nearest) {
                    nearest = (double)z;
                    float up = (float)((double)(float)(2 * (double)h - (double)dx) - (double)dy);
                    shade = (double)(float)((double)up / (double)(float)((double)s[3] * 3));
                }
            }
            shade = fmin(fmax(shade, 0), 1);
            image[py][px] = (uint8_t)(float)(255 * shade);
            depth[py][px] = (float)nearest;
        }
    REF_WRITE("scene.bin", scene);
    REF_WRITE("image.bin", image);
    REF_WRITE("depth.bin", depth);
    return 0;
}
