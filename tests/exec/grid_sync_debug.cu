// The same as code of -G, beside which the device runtime's library leaves other names open.
#include "grid_sync.cu"
