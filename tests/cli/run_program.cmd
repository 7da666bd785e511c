$W run tests/data/fat.program --kernel fat_add --functional --quiet --block 4 \
  --buf x:u32:4:iota --arg x --arg u32:4 --print-buf x
