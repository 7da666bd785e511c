$W simulate x
