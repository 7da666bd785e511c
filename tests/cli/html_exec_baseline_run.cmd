echo "{\"launch\": {}}" >$T/base.json; $W exec --html $T/page.html --html-baseline $T/base.json /bin/true 2>$T/said; s=$?; sed "s#$T#T#" $T/said >&2; exit $s
