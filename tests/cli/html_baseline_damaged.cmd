printf "{" >$T/base.json; $W run kernels/vecadd/vecadd.launch --quiet --html $T/page.html --html-baseline $T/base.json 2>$T/said; s=$?; sed "s#$T#T#" $T/said >&2; exit $s
