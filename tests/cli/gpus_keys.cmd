# Ranges of every kind of key: numbers, names, truths.
$W gpus --keys | grep -E '^\| (issue\.policy|l2\.perfect|issue\.bar_cycles) '
