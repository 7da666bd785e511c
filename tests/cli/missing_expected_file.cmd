$W run kernels/vecadd/vecadd.launch --functional --quiet --data "$T"
