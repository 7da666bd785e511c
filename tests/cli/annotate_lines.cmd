# Lines and what was inlined, from tests/data/lines.cu; the source itself is not where the compiler had it.
$W run tests/data/lines.sm_86.cubin --kernel second --block 32 --buf in:f32:64:iota --buf out:f32:64 --arg in --arg out \
  --quiet --annotate >$T/listing
grep -A 1 -E '^; lines.cu:(2|5|17)' $T/listing | grep -o -E '^;.*|0x00.*'
