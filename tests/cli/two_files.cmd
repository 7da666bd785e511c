$W run a.launch b.launch
