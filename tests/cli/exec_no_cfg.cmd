# A file that is not there is told as one, a name of the tree as that.
$W exec --machine own.cfg /bin/echo started
$W exec --gpu ./own.cfg /bin/echo started
$W machines --show own.cfg
exit 0
