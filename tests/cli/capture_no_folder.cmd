$W capture ./a.out
