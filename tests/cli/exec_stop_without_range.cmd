$W exec --stop-after-timed /bin/true
