# A program of any target finds a preset: what is said is the preset's product.
for sm in 75 80 86 87 89 90 100 103 110 120 121; do
  $W run "kernels/vecadd/vecadd.sm_$sm.cubin" --kernel vecadd --grid 1 --block 32 --buf x:f32:32:zero --buf y:f32:32:zero \
    --buf z:f32:32:zero --arg x --arg y --arg z --arg i32:32 | head -1
done
