$W diff nope.json nope.json
