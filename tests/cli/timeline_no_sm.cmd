$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --timeline $T/t --timeline-sms 40-46
