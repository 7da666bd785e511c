# vecadd with an instruction that nothing defines, opcode 0x1ff
python3 - <<'PY' "$T/bad.cubin"
import sys
image = bytearray(open('kernels/vecadd/vecadd.sm_86.cubin', 'rb').read())
exit_at = image.find(bytes.fromhex('4d79000000000000'))
assert exit_at > 0
image[exit_at:exit_at + 2] = bytes.fromhex('ff79')
open(sys.argv[1], 'wb').write(image)
PY
$W isa --check "$T/bad.cubin"
