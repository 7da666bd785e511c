$W machines
