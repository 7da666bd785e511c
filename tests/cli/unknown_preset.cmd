$W run kernels/vecadd/vecadd.launch --gpu gtx-9999 --functional
