/*
 * Reference of sudoku: grids are made by permuting a solved pattern and blanking
 * cells; a solver that counts solutions confirms that there is exactly one.
 */
#include "../common/ref.h"

static int count(int8_t *g, int at)
{
    int n = 0;

    while (at < 81 && g[at])
        at++;
    if (at == 81)
        return 1;
    for (int8_t v = 1; v <= 9 && n < 2; v++) {
        int clash = 0;
        for (int k = 0; k < 81; k++) {
            int peer = k / 9 == at / 9 || k % 9 == at % 9 ||
                       (k / 27 == at / 27 && k % 9 / 3 == at % 9 / 3);
            clash |= peer && g[k] == v;
        }
        g[at] = v;
        n += clash ? 0 : count(g, at + 1);
    }
    g[at] = 0;
    return n;
}

int main(int argc, char **argv)
{
    static int8_t in[3][81], out[3][81];
    static const int32_t solved[3] = {1, 1, 0};

    ref_init(argc, argv);
    for (int b = 0; b < 2; b++) {
        for (int k = 0; k < 81; k++)
            in[b][k] = out[b][k] = (int8_t)((k / 9 * 3 + k / 27 + k % 9 * (b + 1) * 4) % 9 + 1);
        for (uint64_t i = 0; i < 45; i++) { /* blank what keeps the solution unique */
            int at = (int)ref_uniform_int(314 + (uint64_t)b, i, 0, 80);
            int8_t was = in[b][at];
            in[b][at] = 0;
            if (count(in[b], 0) != 1)
                in[b][at] = was;
        }
    }
    /* a cell of the first row that no digit fits: 1 to 8 in the row, 9 in the column */
    for (int k = 0; k < 8; k++)
        in[2][k] = (int8_t)(k + 1);
    in[2][35] = 9;
    memcpy(out[2], in[2], sizeof out[2]);
    REF_WRITE("grid_in.bin", in);
    REF_WRITE("grid.bin", out);
    REF_WRITE("solved.bin", solved);
    return 0;
}
