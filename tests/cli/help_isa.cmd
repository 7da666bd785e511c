$W help isa
