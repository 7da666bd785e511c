$W help
