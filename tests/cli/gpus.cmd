$W gpus | sort | grep -E "^(a100|h200|rtx-3070) "
