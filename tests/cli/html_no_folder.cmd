$W run kernels/vecadd/vecadd.launch --quiet --html /nonexistent/page.html
