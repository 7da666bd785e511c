"$W" help validate
