$W exec --functional --html $T/page.html /bin/true
