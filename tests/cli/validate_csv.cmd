"$W" validate --suite textbook-rtx-2080ti --only '^strided_copy-262144$' --quiet --csv "$T/v.csv" --plot "$T/v.svg" >/dev/null
head -1 "$T/v.csv"
sed -n 2p "$T/v.csv" | cut -d, -f 1-5
grep -c '<circle' "$T/v.svg"
