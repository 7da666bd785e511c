$W exec --gpu gtx-9999 /bin/true
