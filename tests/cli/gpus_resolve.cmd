$W gpus --resolve rtx-3070 | grep -E "^(gpu.sms|arch.sm) "
