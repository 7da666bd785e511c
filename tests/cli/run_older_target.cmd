# A launch file whose cubin is built for an older target of the same family.
$W run kernels/conv2d/conv2d.launch --gpu rtx-4090 --functional | head -1
