$W isa --coverage | grep -c sm_86
