# What-if of programs: which launches, known costs, nothing that shows the whole program.
$W exec --what-if all ./app; echo $?
$W exec --what-if nothing --time-kernels 1..1 ./app; echo $?
$W exec --what-if all --time-kernels 1..1 --html x.html ./app; echo $?
$W exec --what-if all --time-kernels 1..1 --functional ./app; echo $?
