$W help gpus
