/* How a product is cut: into tiles of D, and where these do not fill the GPU, in k. */
#ifndef WS_BLAS_TILES_H
#define WS_BLAS_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tiles of D, rows by columns, and how fast their kernel is. */
struct blas_tile {
  int rows, columns, threads, shared; /* shared: bytes of dynamic shared memory */
  int resident;    /* CTAs that an SM holds at once */
  int alone, rate; /* of its speed, per mille: with one CTA on an SM, with as many as it holds */
  int speed;       /* multiply-adds of a cycle of an SM */
};

struct blas_work {
  int64_t m, n, k, batch;
  int sms;
  bool last_alone;   /* the last tiles may be split, those before not; else all or none */
  int cell;          /* bytes of a sum; 0: k is not split */
  double most_bytes; /* for partial sums */
};

struct blas_cut {
  int64_t whole, others; /* tiles of one product that are not split, and that are */
  int splits, k_per_split;
  double bytes, cycles;  /* of partial sums; until it is done */
};

int64_t blas_tiles(int64_t length, int tile);
/* The cut that is done first. */
struct blas_cut blas_cut_for(const struct blas_tile *t, const struct blas_work *w);

#endif
