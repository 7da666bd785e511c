$W run kernels/vecadd/vecadd.launch --functional --html $T/page.html
