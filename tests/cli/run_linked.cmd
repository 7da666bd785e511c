printf 'cubin = ("%s", "%s"); kernel = "rdc_all"; grid = [1]; block = [8];\n' \
  "$PWD/tests/data/rdc_main.sm_%d.cubin" "$PWD/tests/data/rdc_part.sm_%d.cubin" >$T/linked.launch
printf 'args = ( { buffer = "o"; }, { u32 = 1; } ); buffers = { o = { type = "i32"; count = 64; fill = "zero"; }; };\n' >>$T/linked.launch
$W run $T/linked.launch --functional --quiet --print-buf o:16
$W run tests/data/rdc_part.program tests/data/rdc_main.program --kernel rdc_few --block 4 \
  --functional --quiet --buf o:u32:4 --arg o --print-buf o
