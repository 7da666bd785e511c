$W exec --timeline-sms 5 true
