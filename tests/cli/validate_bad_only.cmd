"$W" validate --suite textbook-rtx-2080ti --only '('
