$W diff a.json
