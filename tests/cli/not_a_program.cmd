# What is no program, given to the commands that start one: each says what it is, and what to do.
cp kernels/vecadd/vecadd.cu kernels/vecadd/vecadd.launch $T; cd $T; echo x >plain
mkdir folder
for c in exec "exec --functional" sanitize "capture -o cases"; do
  for f in folder ./folder vecadd.cu ./vecadd.cu ./vecadd.launch ./plain plain missing ./missing; do
    $W $c $f 2>&1; echo $?
  done
done >all
head -n 18 all
sort all | uniq -c | awk '{ print $1 }' | uniq -c | awk '{ print $1, $2 }'
