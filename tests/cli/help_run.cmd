$W help run
