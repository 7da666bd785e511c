$W exec --timeline $T/t --timeline-us 5 true
