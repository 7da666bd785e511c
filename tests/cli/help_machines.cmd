$W help machines
