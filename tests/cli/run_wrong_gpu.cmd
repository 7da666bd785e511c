# The message names presets of the code's own target, here more than it lists.
$W run kernels/vecadd/vecadd.sm_90.cubin --gpu rtx-4090 --grid 1 --block 32
