$W exec --json /no/such/dir/x.json /bin/true
