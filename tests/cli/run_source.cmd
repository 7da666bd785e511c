# What is not machine code yet: each says what to do first.
cd $T
for f in k.cu k.ptx k.sass k.traceg k.py; do echo x >$f; $W run $f --functional; echo $?; done
