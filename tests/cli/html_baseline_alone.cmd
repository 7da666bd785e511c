$W run kernels/vecadd/vecadd.launch --html-baseline $T/base.json
