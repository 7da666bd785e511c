"$W" validate --suite absent
