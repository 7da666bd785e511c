/* Reference of tmem_copy: the lanes that get each row (PTX ISA, tcgen05.cp; of 4x256b: NVIDIA CUTLASS, one in each 32),
 * and the 31 lanes that get those behind them (tcgen05.shift, .31x256b). */
#include "../common/ref.h"

enum { COLUMNS = 32, LANES = 128, BYTES = 8192, COPIES = 10, AT = 8 };

static uint8_t in[BYTES];
static uint32_t out[COPIES][LANES][COLUMNS];

/* Sixteen elements of `bits` bits, a byte each; those of four in the middle of it. */
static void unpacked(uint8_t to[16], const uint8_t *from, unsigned bits)
{
    for (unsigned k = 0; k < 16; k++) {
        unsigned v = 0;
        for (unsigned b = 0; b < bits; b++)
            v |= (unsigned)(from[(k * bits + b) / 8] >> (k * bits + b) % 8 & 1) << b;
        to[k] = (uint8_t)(bits == 4 ? v << 2 : v);
    }
}

static void row_to(unsigned copy, unsigned lane, unsigned chunk, const uint8_t *from, unsigned bits)
{
    uint8_t bytes[16];
    if (bits == 8)
        memcpy(bytes, from, sizeof bytes);
    else
        unpacked(bytes, from, bits);
    memcpy(&out[copy][lane][AT + 4 * chunk], bytes, sizeof bytes);
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (unsigned i = 0; i < BYTES; i++)
        in[i] = (uint8_t)ref_uniform_int(8, i, 0, 255);
    for (unsigned c = 0; c < COPIES; c++)
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned k = 0; k < COLUMNS; k++)
                out[c][l][k] = l << 16 | k;
    for (unsigned i = 0; i < 128; i++) {
        row_to(0, i, 0, &in[i * 16], 8), row_to(0, i, 1, &in[2048 + i * 16], 8);
        row_to(1, i, 0, &in[i * 16], 8);
        row_to(5, i, 0, &in[i * 16], 4);
        /* rows of 32 bytes, whose halves change places in every second group of four rows */
        for (unsigned half = 0; half < 2; half++)
            row_to(7, i, half, &in[i * 32 + (half ^ (i / 4 & 1)) * 16], 8);
    }
    for (unsigned i = 0; i < 4; i++)
        row_to(8, 32 * i + 31, 0, &in[i * 16], 8), row_to(8, 32 * i + 31, 1, &in[2048 + i * 16], 8);
    for (unsigned l = 64; l < 64 + 31; l++)
        for (unsigned k = AT; k < AT + 8; k++)
            out[9][l][k] = (l + 1) << 16 | k;
    for (unsigned i = 0; i < 64; i++) {
        row_to(2, i, 0, &in[i * 16], 8), row_to(2, i + 64, 0, &in[i * 16], 8);
        unsigned first = i < 32 ? i : i + 32;
        row_to(3, first, 0, &in[i * 16], 8), row_to(3, first + 32, 0, &in[i * 16], 8);
    }
    for (unsigned i = 0; i < 128; i++)
        row_to(4, i, 0, &in[i % 32 * 16], 8), row_to(6, i, 0, &in[i % 32 * 16], 6);
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
