$W help help
