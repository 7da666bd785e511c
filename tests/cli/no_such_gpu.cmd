# No preset is of a target that does not exist: what to compile for is said, not to look for another preset.
cp tests/data/fat.sm_89.cubin "$T/later.cubin"
printf '\134' | dd of="$T/later.cubin" bs=1 seek=49 conv=notrunc status=none # e_flags: sm_92
$W run "$T/later.cubin" --kernel fat_add
