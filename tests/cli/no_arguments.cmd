$W
