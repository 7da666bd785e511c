# Each is told where the other one is.
$W exec --machine rtx-3090 /bin/echo started
$W exec --gpu dgx-a100 /bin/echo started
exit 0
