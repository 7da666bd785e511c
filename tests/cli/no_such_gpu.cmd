# No preset is of sm_89: what to compile for is said, not to look for another preset.
$W run tests/data/fat.sm_89.cubin --kernel fat_add
