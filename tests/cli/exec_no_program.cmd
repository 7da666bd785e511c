$W exec --quiet
