cd $T && echo '{"a": 1}' >a.json && $W diff a.json a.json
