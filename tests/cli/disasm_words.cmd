# EXIT and a branch to itself: targets count from the first word
printf '\x4d\x79\0\0\0\0\0\0\0\0\x80\x03\0\xea\x0f\0' > "$T/words.bin"
printf '\x47\x79\0\0\xf0\xff\xff\xff\xff\xff\x83\x03\0\xc0\x0f\0' >> "$T/words.bin"
$W disasm --words --sm 86 "$T/words.bin" && $W disasm --words "$T/words.bin"
