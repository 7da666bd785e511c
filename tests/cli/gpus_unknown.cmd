$W gpus --resolve gtx-9999
