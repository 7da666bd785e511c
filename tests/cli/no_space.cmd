$W help >/dev/full
